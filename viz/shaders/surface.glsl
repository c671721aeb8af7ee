// The surface r(v) = A v^m of one tensor. Preceded by ORDER, TEXELS and form().
uniform vec3 flip;             // RAS -> the tensors' world
uniform mat3 to_voxel;         // RAS mm -> voxels
uniform bool clipped;          // at the voxel's walls
uniform float bend;            // (1 + ORDER) h^2 c, where h is the angle between vertices; ellipsoids: h^2 c
uniform bool ellipsoid;        // of order 2: the points D v instead, half axes in proportion to the eigenvalues

// The radius up to a wall of the voxel, and there the normal of the wall.
float cut(float radius, vec3 v, inout vec3 normal)
{
    if (!clipped)
        return radius;
    vec3 out_of = to_voxel * v, far = abs(out_of);
    float max_far = max(far.x, max(far.y, far.z));
    if (radius * max_far <= 0.5)
        return radius;
    vec3 wall = far.x == max_far ? vec3(sign(out_of.x), 0, 0) : far.y == max_far ? vec3(0, sign(out_of.y), 0)
                                                                           : vec3(0, 0, sign(out_of.z));
    normal = wall * to_voxel;
    return 0.5 / max_far;
}

// Radius along v in mm and normal (not normalised) of the tensor in `slot`. size: mm per unit of A v^m. v: of the
// sphere; of an ellipsoid's point it becomes the direction.
float surface(int slot, float size, inout vec3 v, out vec3 normal)
{
    vec3 gradient;
    float radius = form(slot * TEXELS, v * flip, gradient);
    gradient *= flip;
#if ORDER == 2
    if (ellipsoid) {
        // the point is D v, and the normal of a linear map's image is that of its cofactors
        vec4 d = vec4(texelFetch(values, slot * TEXELS)), e = vec4(texelFetch(values, slot * TEXELS + 1));
        vec3 row = vec3(d.w * e.y - e.x * e.x, d.z * e.x - d.y * e.y, d.y * e.x - d.z * d.w), w = v * flip;
        vec3 rest = vec3(d.x * e.y - d.z * d.z, d.y * d.z - d.x * e.x, d.x * d.w - d.y * d.y);
        normal = flip * vec3(dot(row, w), row.y * w.x + rest.x * w.y + rest.y * w.z,
                             row.z * w.x + rest.y * w.y + rest.z * w.z);
        radius = length(gradient);
        v = gradient / max(radius, 1e-30);
        return cut(radius * size * (1.0 + bend), v, normal);
    }
#endif
    // of the surface r(v) v: the radial direction, tilted against the slope of r on the sphere
    normal = float(ORDER + 1) * radius * v - float(ORDER) * gradient;
    // Flat triangles between points of a curved surface lie inside it. On a great circle, u = 1/r of a straight line
    // obeys u'' + u = 0; for x^m, u'' + u = (1 + m) (1 + (r'/r)^2 / m) / r. Vertices are raised in proportion, so that
    // triangles are right on average.
    vec3 slope = gradient - radius * v;
    float steep = float(ORDER) * dot(slope, slope) / max(radius * radius, 1e-6);
    radius = max(radius, 0.0) * size * (1.0 + min(bend * (1.0 + steep), 0.5));
    return cut(radius, v, normal);
}

// Colour before shading. rgba: of the glyph; alpha 0: by direction.
vec3 surface_color(uint rgba, vec3 v)
{
    return (rgba >> 24) == 0u ? abs(v) : vec3(rgba & 255u, rgba >> 8 & 255u, rgba >> 16 & 255u) / 255.0;
}
