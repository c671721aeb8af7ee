in vec3 ras;
uniform sampler3D volume;
uniform mat4 from_ras;
uniform vec3 voxels;        // number along each axis
uniform vec2 window;        // black, and 1 / (white - black)
uniform bool colored;
uniform float opacity;
uniform vec3 canvas;
uniform bool hollow;        // 3-D, white paper: dark voxels, and those outside the mask, are left out
uniform float floor_value;
uniform bool masked;
uniform sampler3D mask;     // on the grid of the glyphs
uniform mat4 mask_from_ras;
uniform vec3 mask_voxels;
layout(location = 0) out vec4 pixel;

void main()
{
    vec3 at = ((from_ras * vec4(ras, 1.0)).xyz + 0.5) / voxels;
    if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0))))
        discard;
    vec3 value = texture(volume, at).rgb;
    if (hollow) {
        vec3 there = ((mask_from_ras * vec4(ras, 1.0)).xyz + 0.5) / mask_voxels;
        bool inside = all(greaterThanEqual(there, vec3(0.0))) && all(lessThanEqual(there, vec3(1.0)));
        float most = colored ? max(value.r, max(value.g, value.b)) : value.r;
        if (!(most > floor_value) || (masked && inside && texture(mask, there).r < 0.5))
            discard;
    }
    value = clamp((value - window.x) * window.y, 0.0, 1.0);
    pixel = vec4(mix(canvas, colored ? value : value.rrr, opacity), 1.0);
}
