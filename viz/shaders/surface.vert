// One vertex of a surface around a voxel's centre. Preceded by surface.glsl.
uniform usamplerBuffer list;   // two texels per glyph: centre and slot; size, colour
uniform int first, copies;     // a mesh has several copies of the sphere: small instances leave the hardware idle
uniform mat4 view;             // RAS mm -> clip coordinates

layout(location = 0) in vec4 corner; // direction, and number of the copy

// Shaded per vertex: triangles are a few pixels large, and a software renderer pays for every interpolated value and
// every operation on at least 16 pixels per triangle.
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
