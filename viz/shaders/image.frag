in vec3 ras;
uniform sampler3D volume;
uniform mat4 from_ras;
uniform vec3 voxels;        // number along each axis
uniform vec2 window;        // black, and 1 / (white - black)
uniform bool colored;
uniform float opacity;
uniform vec3 canvas;
layout(location = 0) out vec4 pixel;

void main()
{
    vec3 at = ((from_ras * vec4(ras, 1.0)).xyz + 0.5) / voxels;
    if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0))))
        discard;
    vec3 value = texture(volume, at).rgb;
    value = clamp((value - window.x) * window.y, 0.0, 1.0);
    pixel = vec4(mix(canvas, colored ? value : value.rrr, opacity), 1.0);
}
