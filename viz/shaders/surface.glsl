// The surface r(v) = A v^m of one tensor, for the shaders that draw it. ORDER, TEXELS and form() are put before this
// text.
uniform vec3 flip;             // RAS -> the tensors' world
uniform mat3 to_voxel;         // RAS mm -> voxel steps
uniform bool clipped;          // to the voxel's walls
uniform float bend;            // (1 + ORDER) h^2 c, with h the angle between vertices

// Its radius along v in mm, and its normal (not unit), of the tensor in `slot`; size: mm per unit of A v^m.
float surface(int slot, float size, vec3 v, out vec3 normal)
{
    vec3 gradient;
    float radius = form(slot * TEXELS, v * flip, gradient);
    gradient *= flip;
    // of the surface r(v) v: the radial part, and against the slope of r on the sphere
    normal = float(ORDER + 1) * radius * v - float(ORDER) * gradient;
    // Flat triangles between points of a curved surface lie below it. Along a great circle 1/r of a line bends by
    // u'' + u = 0; that of x^m by (1 + m) (1 + (r'/r)^2 / m) / r: by so much is a vertex raised that triangles are
    // right in the mean.
    vec3 slope = gradient - radius * v;
    float steep = float(ORDER) * dot(slope, slope) / max(radius * radius, 1e-6);
    radius = max(radius, 0.0) * size * (1.0 + min(bend * (1.0 + steep), 0.5));
    if (clipped) {
        vec3 out_of = to_voxel * v, far = abs(out_of);
        float max_far = max(far.x, max(far.y, far.z));
        if (radius * max_far > 0.5) { // cut off by a wall, whose normal it has
            radius = 0.5 / max_far;
            vec3 wall = far.x == max_far ? vec3(sign(out_of.x), 0, 0) : far.y == max_far ? vec3(0, sign(out_of.y), 0)
                                                                                   : vec3(0, 0, sign(out_of.z));
            normal = wall * to_voxel;
        }
    }
    return radius;
}

// What it is coloured with there before it is lit. rgba: of the glyph; alpha 0: by direction.
vec3 surface_color(uint rgba, vec3 v)
{
    return (rgba >> 24) == 0u ? abs(v) : vec3(rgba & 255u, rgba >> 8 & 255u, rgba >> 16 & 255u) / 255.0;
}
