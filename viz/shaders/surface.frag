in vec3 normal;
in vec3 color;
layout(location = 0) out vec4 pixel;

void main()
{
    pixel = vec4(shade(color, normalize(normal)), 1.0);
}
