// What the processor drew: SAMPLES texels for every pixel of the band, and SAMPLE says which of them this is. DEPTHS:
// something else is drawn at the same depths.
uniform sampler2D colors, depths;
uniform ivec2 corner; // of the band in the framebuffer
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
