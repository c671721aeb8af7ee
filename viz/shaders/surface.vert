// One vertex of a surface r(v) = A v^m around a voxel's centre. ORDER, TEXELS and form() are put before this text.
uniform usamplerBuffer list;   // two texels per glyph: centre and slot; size, colour
uniform int first, copies;     // a mesh holds several copies of the sphere: small instances leave the hardware idle
uniform mat4 view;             // RAS mm -> clip
uniform vec3 flip;             // RAS -> the tensors' world
uniform mat3 to_voxel;         // RAS mm -> voxel steps
uniform bool clipped;          // to the voxel's walls
uniform float bend;            // (1 + ORDER) h^2 c, with h the angle between vertices

layout(location = 0) in vec4 corner; // direction, and which copy

// Lit here, not per pixel: triangles are a few pixels large, and to a software renderer every value that is interpolated
// and every operation on a pixel counts, 16 pixels for each triangle however small.
out vec3 color;

void main()
{
    int item = 2 * (first + gl_InstanceID * copies + int(corner.w));
    uvec4 where = texelFetch(list, item), look = texelFetch(list, item + 1);
    float size = uintBitsToFloat(look.x);
    vec3 v = corner.xyz, gradient;
    float radius = form(int(where.w) * TEXELS, v * flip, gradient);
    gradient *= flip;
    // of the surface r(v) v: the radial part, and against the slope of r on the sphere
    vec3 normal = float(ORDER + 1) * radius * v - float(ORDER) * gradient;
    // Flat triangles between points of a curved surface lie below it. Along a great circle 1/r of a line bends by
    // u'' + u = 0; that of x^m by (1 + m) (1 + (r'/r)^2 / m) / r: by so much is a vertex raised that triangles are
    // right in the mean.
    vec3 slope = gradient - radius * v;
    float steep = float(ORDER) * dot(slope, slope) / max(radius * radius, 1e-6);
    radius = max(radius, 0.0) * size * (1.0 + min(bend * (1.0 + steep), 0.5));
    if (clipped) {
        vec3 out_of = to_voxel * v, far = abs(out_of);
        float most = max(far.x, max(far.y, far.z));
        if (radius * most > 0.5) { // cut off by a wall, whose normal it has
            radius = 0.5 / most;
            vec3 wall = far.x == most ? vec3(sign(out_of.x), 0, 0) : far.y == most ? vec3(0, sign(out_of.y), 0)
                                                                                   : vec3(0, 0, sign(out_of.z));
            normal = wall * to_voxel;
        }
    }
    color = (look.y >> 24) == 0u ? abs(v) : vec3(look.y & 255u, look.y >> 8 & 255u, look.y >> 16 & 255u) / 255.0;
    color = shade(color, normalize(normal));
    vec3 center = vec3(uintBitsToFloat(where.x), uintBitsToFloat(where.y), uintBitsToFloat(where.z));
    gl_Position = view * vec4(center + radius * v, 1.0);
}
