// Draws one glyph per work group without the hardware's rasteriser. As in viz/raster/raster.h, half the sphere is
// computed, and of each triangle and its antipode the one that faces the viewer is drawn. With 64-bit atomics (WIDE)
// depth and colour are written together; otherwise the first pass writes depths, and the second the colours at these
// depths. Preceded by surface.glsl, WIDE and MAX_VERTICES, which limits the vertices of a half sphere (smaller limits
// run more work groups at once).
layout(local_size_x = 32) in;

uniform usamplerBuffer list;   // as in surface.vert
uniform samplerBuffer sphere;  // vertices of the half sphere
uniform usamplerBuffer corners; // its triangles
uniform int first, count, vertices, triangles;
uniform mat4 to_pixels;        // RAS mm -> 1/64 pixel from the bottom left, depth 0 to 1
uniform ivec2 size;            // pixels
uniform int samples;           // per pixel
uniform vec2 places[16];       // of the samples in a pixel, in 1/64 pixel
uniform float far;             // 1/64 pixels per mm of a glyph's largest radius, including HOT_GLYPH_MAX_REACH
uniform vec4 reach;            // bounds of places: lowest x, y and highest x, y
uniform bool coloring;         // 1: colours are written; 0: depths only

#if WIDE
layout(std430, binding = 0) coherent buffer sample_buffer { uint64_t drawn[]; }; // depth, and colour in the lower half
#else
layout(std430, binding = 0) coherent buffer depth_buffer { uint depths[]; };
layout(std430, binding = 1) coherent buffer color_buffer { uint colors[]; };
#endif

shared vec3 place[MAX_VERTICES];              // relative to the glyph's centre
shared uint front[MAX_VERTICES], back[MAX_VERTICES];  // colours of each vertex and of its antipode

// Rounds to the nearest integer, symmetrically about 0.
vec2 round_symmetric(vec2 x) { return sign(x) * floor(abs(x) + 0.5); }

// Twice the area of the triangle between an edge and a point, positive on the left. inside(): a point on a shared edge
// belongs to one of its triangles.
int edge(ivec2 along, ivec2 p) { return along.x * p.y - along.y * p.x; }
bool inside(int twice, ivec2 along)
{
    return twice > 0 || (twice == 0 && (along.y < 0 || (along.y == 0 && along.x < 0)));
}

// Colours of a triangle's corners.
mat3 colors_of(ivec3 corner, bool other)
{
    uvec3 packed3 = other ? uvec3(back[corner.x], back[corner.y], back[corner.z])
                          : uvec3(front[corner.x], front[corner.y], front[corner.z]);
    return mat3(unpackUnorm4x8(packed3.x).rgb, unpackUnorm4x8(packed3.y).rgb, unpackUnorm4x8(packed3.z).rgb);
}

void draw(ivec3 corner, bool other, vec3 center)
{
    float way = other ? -1.0 : 1.0;
    vec3 p = way * place[corner.x], q = way * place[corner.y], r = way * place[corner.z];
    ivec2 a = ivec2(center.xy + p.xy), b = ivec2(center.xy + q.xy), c = ivec2(center.xy + r.xy);
    ivec2 ab = b - a, bc = c - b, ca = a - c;
    int area = ab.x * -ca.y + ab.y * ca.x;
    if (area <= 0)
        return;
    ivec2 low = max(ivec2(ceil((vec2(min(a, min(b, c))) - reach.zw) / 64.0)), ivec2(0));
    ivec2 high = min(ivec2(floor((vec2(max(a, max(b, c))) - reach.xy) / 64.0)), size - 1);
    float z = center.z + p.z, zb = (q.z - p.z) / float(area), zc = (r.z - p.z) / float(area);
    for (int y = low.y; y <= high.y; y++)
        for (int x = low.x; x <= high.x; x++)
            for (int s = 0; s < samples; s++) {
                ivec2 from = 64 * ivec2(x, y) + ivec2(places[s]) - a;
                int c_part = edge(ab, from), b_part = edge(ca, from), a_part = area - c_part - b_part;
                if (!inside(c_part, ab) || !inside(b_part, ca) || !inside(a_part, bc))
                    continue;
                float deep = z + float(b_part) * zb + float(c_part) * zc;
                if (!(deep >= 0.0 && deep < 1.0))
                    continue;
                uint bits = floatBitsToUint(deep);
                int at = (y * size.x + x) * samples + s;
#if WIDE
                if (uint(drawn[at] >> 32) < bits)
                    continue;
#else
                if (!coloring) {
                    if (bits < depths[at])
                        atomicMin(depths[at], bits);
                    continue;
                }
                if (bits != depths[at])
                    continue;
#endif
                vec3 parts = vec3(a_part, b_part, c_part) / float(area);
                uint color = packUnorm4x8(vec4(colors_of(corner, other) * parts, 1.0));
                // ties in depth have a fixed winner
#if WIDE
                atomicMin(drawn[at], (uint64_t(bits) << 32) | uint64_t(color));
#else
                atomicMax(colors[at], color);
#endif
            }
}

void main()
{
    int item = int(gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x);
    if (item >= count)
        return;
    uvec4 where = texelFetch(list, 2 * (first + item)), look = texelFetch(list, 2 * (first + item) + 1);
    vec4 middle = to_pixels * vec4(uintBitsToFloat(where.xyz), 1.0);
    vec3 center = vec3(round_symmetric(middle.xy), middle.z);
    float beyond = far * uintBitsToFloat(look.z);
    if (any(lessThan(middle.xy, vec2(-beyond))) || any(greaterThan(middle.xy, vec2(64 * size) + beyond)))
        return; // outside the picture
    for (int n = int(gl_LocalInvocationID.x); n < vertices; n += 32) {
        vec3 v = texelFetch(sphere, n).xyz, normal;
        float radius = surface(int(where.w), uintBitsToFloat(look.x), v, normal);
        vec3 way = radius * (mat3(to_pixels) * v);
        place[n] = vec3(round_symmetric(way.xy), way.z);
        if (WIDE != 0 || coloring) {
            vec3 color = surface_color(look.y, v), n1 = normalize(normal);
            front[n] = packUnorm4x8(vec4(shade(color, n1), 1.0));
            back[n] = packUnorm4x8(vec4(shade(color, -n1), 1.0));
        }
    }
    barrier();
    for (int t = int(gl_LocalInvocationID.x); t < triangles; t += 32) {
        ivec3 corner = ivec3(texelFetch(corners, t).xyz);
        vec2 ab = place[corner.y].xy - place[corner.x].xy, ac = place[corner.z].xy - place[corner.x].xy;
        float area = ab.x * ac.y - ab.y * ac.x;
        if (area > 0.0)
            draw(corner, false, center);
        else if (area < 0.0)
            draw(corner.xzy, true, center); // the antipode has the opposite orientation
    }
}
