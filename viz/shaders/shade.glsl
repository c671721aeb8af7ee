// Blinn-Phong shading. Precedes the text of the glyph shaders.
uniform vec3 toward, light; // RAS unit vectors to the viewer and to the light
uniform bool lit;

vec3 shade(vec3 color, vec3 n)
{
    if (!lit)
        return color;
    float facing = max(dot(n, light), 0.0), shine = max(dot(n, normalize(light + toward)), 0.0);
    shine *= shine;
    shine *= shine;
    shine *= shine;
    shine *= shine;
    return color * (0.34 + 0.66 * facing) + 0.12 * shine * shine;
}
