// What tile.comp drew. SAMPLE: which of the pixel's samples this is.
uniform ivec2 size, corner;    // pixels; of the viewport in the framebuffer
uniform int samples;
layout(std430, binding = 0) readonly buffer depth_buffer { uint depths[]; };
layout(std430, binding = 1) readonly buffer color_buffer { uint colors[]; };
layout(location = 0) out vec4 pixel;

void main()
{
    ivec2 at = ivec2(gl_FragCoord.xy) - corner;
    int sample_at = (at.y * size.x + at.x) * samples + SAMPLE;
    pixel = unpackUnorm4x8(colors[sample_at]);
    if (pixel.a == 0.0)
        discard;
    gl_FragDepth = uintBitsToFloat(depths[sample_at]);
}
