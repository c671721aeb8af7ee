uniform vec2 origin, size; // pixels of the part of the picture that is drawn
layout(location = 0) in vec2 position;
layout(location = 1) in vec2 texel;
layout(location = 2) in vec4 rgba;
out vec2 place;
out vec4 color;

void main()
{
    place = texel;
    color = rgba;
    vec2 at = (position - origin) / size;
    gl_Position = vec4(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, 0.0, 1.0);
}
