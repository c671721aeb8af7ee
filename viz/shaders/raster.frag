// Copies the CPU rasteriser's output: SAMPLES texels per pixel of the band; SAMPLE is the current one. DEPTHS: 1 if
// other things are drawn at the same depths.
uniform sampler2D colors, depths;
uniform ivec2 corner; // lower left corner of the band in the framebuffer
layout(location = 0) out vec4 pixel;

void main()
{
    ivec2 at = ivec2(gl_FragCoord.xy) - corner;
    at.x = at.x * SAMPLES + SAMPLE;
    pixel = texelFetch(colors, at, 0);
    if (pixel.a == 0.0)
        discard;
#if DEPTHS
    gl_FragDepth = texelFetch(depths, at, 0).r;
#endif
}
