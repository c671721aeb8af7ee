// The surface r(v) = A v^m of one tensor. Preceded by ORDER, TEXELS and form().
uniform vec3 flip;             // RAS -> the tensors' world
uniform mat3 to_voxel;         // RAS mm -> voxels
uniform bool clipped;          // at the voxel's walls
uniform float bend;            // (1 + ORDER) h^2 c, where h is the angle between vertices

// Radius along v in mm and normal (not normalised) of the tensor in `slot`. size: mm per unit of A v^m.
float surface(int slot, float size, vec3 v, out vec3 normal)
{
    vec3 gradient;
    float radius = form(slot * TEXELS, v * flip, gradient);
    gradient *= flip;
    // of the surface r(v) v: the radial direction, tilted against the slope of r on the sphere
    normal = float(ORDER + 1) * radius * v - float(ORDER) * gradient;
    // Flat triangles between points of a curved surface lie inside it. On a great circle, u = 1/r of a straight line
    // obeys u'' + u = 0; for x^m, u'' + u = (1 + m) (1 + (r'/r)^2 / m) / r. Vertices are raised in proportion, so that
    // triangles are right on average.
    vec3 slope = gradient - radius * v;
    float steep = float(ORDER) * dot(slope, slope) / max(radius * radius, 1e-6);
    radius = max(radius, 0.0) * size * (1.0 + min(bend * (1.0 + steep), 0.5));
    if (clipped) {
        vec3 out_of = to_voxel * v, far = abs(out_of);
        float max_far = max(far.x, max(far.y, far.z));
        if (radius * max_far > 0.5) { // cut off at a wall; the normal is the wall's
            radius = 0.5 / max_far;
            vec3 wall = far.x == max_far ? vec3(sign(out_of.x), 0, 0) : far.y == max_far ? vec3(0, sign(out_of.y), 0)
                                                                                   : vec3(0, 0, sign(out_of.z));
            normal = wall * to_voxel;
        }
    }
    return radius;
}

// Colour before shading. rgba: of the glyph; alpha 0: by direction.
vec3 surface_color(uint rgba, vec3 v)
{
    return (rgba >> 24) == 0u ? abs(v) : vec3(rgba & 255u, rgba >> 8 & 255u, rgba >> 16 & 255u) / 255.0;
}
