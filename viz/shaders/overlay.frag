in vec2 place;
in vec4 color;
uniform sampler2D atlas;
layout(location = 0) out vec4 pixel;

void main()
{
    float coverage = place.x < 0.0 ? 1.0 : texture(atlas, place).r;
    pixel = vec4(color.rgb, color.a * coverage);
}
