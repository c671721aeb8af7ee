// Preceded by LAYER, HOLLOW, OUTLINE and COLORMAP: a software renderer computes both sides of every branch.
in vec3 ras;
uniform sampler3D volume;
uniform mat4 from_ras;
uniform vec3 voxels;        // number along each axis
uniform vec2 window;        // black, and 1 / (white - black)
uniform bool colored;
uniform float opacity;
uniform vec3 canvas;
const bool hollow = HOLLOW != 0; // 3-D, white paper: dark voxels, and those outside the mask, are left out
uniform float floor_value;
uniform bool masked;
uniform sampler3D mask;     // on the grid of the glyphs
uniform mat4 mask_from_ras;
uniform vec3 mask_voxels;
// Layers over the background: blended, and empty where the nearest voxel is 0 (NaN is uploaded as 0).
const bool layer = LAYER != 0, outline = OUTLINE != 0;
const int colormap = COLORMAP; // hot_colormap of layer.h
uniform bool has_threshold;
uniform float threshold;
uniform vec3 pixel_right, pixel_up; // RAS mm: the width of an outline
layout(location = 0) out vec4 pixel;

vec3 place(vec3 at_ras) { return ((from_ras * vec4(at_ras, 1.0)).xyz + 0.5) / voxels; }

bool is_outside(vec3 at) { return any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0))); }

float largest(vec3 value) { return colored ? max(value.r, max(value.g, value.b)) : value.r; }

vec3 nearest(vec3 at)
{
    return texelFetch(volume, ivec3(min(floor(at * voxels), voxels - 1.0)), 0).rgb;
}

// The region of a point: 0 = nothing is drawn there; its label, or 1.
float region(vec3 at_ras)
{
    vec3 at = place(at_ras);
    if (is_outside(at))
        return 0.0;
    vec3 value = nearest(at);
    if ((colored ? value == vec3(0.0) : value.r == 0.0) || (has_threshold && !(largest(value) >= threshold)))
        return 0.0;
    return colormap == 7 ? value.r : 1.0;
}

// Cubehelix as in color.c (Green 2011).
vec3 map_color(float value, float x)
{
    if (colormap == 2)
        return clamp(3.0 * x - vec3(0.0, 1.0, 2.0), 0.0, 1.0);
    if (colormap == 3) {
        float light = 0.25 + 0.61 * x, angle = 6.283185307 * (0.38 / 3.0 - 0.68 * x);
        float hue = 0.9 * light * (1.0 - light);
        vec2 turn = vec2(cos(angle), sin(angle));
        return clamp(light + hue * vec3(dot(vec2(-0.14861, 1.78277), turn), dot(vec2(-0.29227, -0.90649), turn),
                                        1.97294 * turn.x), 0.0, 1.0);
    }
    if (colormap >= 4 && colormap <= 6)
        return x * vec3(colormap == 4, colormap == 5, colormap == 6);
    if (colormap == 7) { // hues a golden section apart, in three lightnesses
        float hue = 6.0 * fract(0.618034 * value), light = 1.0 - 0.2 * mod(value, 3.0);
        return light * clamp(abs(mod(hue + vec3(0.0, 4.0, 2.0), 6.0) - 3.0) - 1.0, 0.15, 1.0);
    }
    return vec3(x);
}

void main()
{
    vec3 at = place(ras);
    if (is_outside(at))
        discard;
    vec3 value = texture(volume, at).rgb;
    if (hollow) {
        vec3 there = ((mask_from_ras * vec4(ras, 1.0)).xyz + 0.5) / mask_voxels;
        bool inside = all(greaterThanEqual(there, vec3(0.0))) && all(lessThanEqual(there, vec3(1.0)));
        if (!(largest(value) > floor_value) || (masked && inside && texture(mask, there).r < 0.5))
            discard;
    }
    if (!layer) {
        value = clamp((value - window.x) * window.y, 0.0, 1.0);
        pixel = vec4(mix(canvas, colored ? value : value.rrr, opacity), 1.0);
        return;
    }
    float here = region(ras);
    bool smooth_edge = has_threshold && colormap != 7 && !outline; // of the interpolated values
    if (smooth_edge ? !(largest(value) >= threshold) : here == 0.0)
        discard;
    if (outline && region(ras + pixel_right) == here && region(ras - pixel_right) == here &&
        region(ras + pixel_up) == here && region(ras - pixel_up) == here)
        discard;
    vec3 shown = clamp((value - window.x) * window.y, 0.0, 1.0);
    pixel = vec4(colored ? shown : map_color(value.r, shown.r), opacity);
}
