// One vertex of a surface around a voxel's centre: surface.glsl is put before this text.
uniform usamplerBuffer list;   // two texels per glyph: centre and slot; size, colour
uniform int first, copies;     // a mesh holds several copies of the sphere: small instances leave the hardware idle
uniform mat4 view;             // RAS mm -> clip

layout(location = 0) in vec4 corner; // direction, and which copy

// Lit here, not per pixel: triangles are a few pixels large, and to a software renderer every value that is
// interpolated and every operation on a pixel counts, 16 pixels for each triangle however small.
out vec3 color;

void main()
{
    int item = 2 * (first + gl_InstanceID * copies + int(corner.w));
    uvec4 where = texelFetch(list, item), look = texelFetch(list, item + 1);
    vec3 v = corner.xyz, normal;
    float radius = surface(int(where.w), uintBitsToFloat(look.x), v, normal);
    color = shade(surface_color(look.y, v), normalize(normal));
    vec3 center = vec3(uintBitsToFloat(where.x), uintBitsToFloat(where.y), uintBitsToFloat(where.z));
    gl_Position = view * vec4(center + radius * v, 1.0);
}
