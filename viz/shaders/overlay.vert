uniform vec2 size; // pixels of the picture
layout(location = 0) in vec2 position;
layout(location = 1) in vec2 texel;
layout(location = 2) in vec4 rgba;
out vec2 place;
out vec4 color;

void main()
{
    place = texel;
    color = rgba;
    gl_Position = vec4(position.x / size.x * 2.0 - 1.0, 1.0 - position.y / size.y * 2.0, 0.0, 1.0);
}
