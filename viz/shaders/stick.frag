flat in vec3 side, front, along;
flat in vec3 color;
flat in float strength;
flat in vec2 size;
in vec2 place;
uniform float alpha;
layout(location = 0) out vec4 pixel;

void main()
{
    vec2 off = vec2(max(abs(place.x) - size.x, 0.0) * sign(place.x), place.y) / size.y;
    float away = dot(off, off);
    if (away > 1.0)
        discard; // outside the round ends
    vec3 n = normalize(side * off.y + along * off.x + front * sqrt(1.0 - away));
    pixel = vec4(shade(color, n), alpha * strength);
}
