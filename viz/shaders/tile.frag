// Copies the output of tile.comp. SAMPLE: the current sample of the pixel.
uniform ivec2 size, corner;    // of the viewport, pixels; its lower left corner in the framebuffer
uniform int samples;
#if WIDE
layout(std430, binding = 0) readonly buffer sample_buffer { uvec2 drawn[]; };
#else
layout(std430, binding = 0) readonly buffer depth_buffer { uint depths[]; };
layout(std430, binding = 1) readonly buffer color_buffer { uint colors[]; };
#endif
layout(location = 0) out vec4 pixel;

void main()
{
    ivec2 at = ivec2(gl_FragCoord.xy) - corner;
    int sample_at = (at.y * size.x + at.x) * samples + SAMPLE;
#if WIDE
    uvec2 found = drawn[sample_at];
#else
    uvec2 found = uvec2(colors[sample_at], depths[sample_at]);
#endif
    pixel = unpackUnorm4x8(found.x);
    if (pixel.a == 0.0)
        discard;
    gl_FragDepth = uintBitsToFloat(found.y);
}
