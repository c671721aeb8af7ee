// A stick is a rectangle facing the viewer, shaded as a round rod by the fragment shader. Six vertices, no attributes.
uniform usamplerBuffer list; // two texels per stick: centre and colour; half its vector and half its thickness
uniform mat4 view;
uniform vec3 toward, right;
uniform float pixel_mm;      // sticks are at least about one pixel thick
uniform float nearer;        // clip depth subtracted to move sticks towards the viewer

flat out vec3 side, front, along;
flat out vec3 color;
flat out float strength; // alpha
flat out vec2 size;  // half length on the screen, half thickness
out vec2 place;      // mm along and across the stick

void main()
{
    int item = 2 * (gl_VertexID / 6), corner = gl_VertexID % 6;
    uvec4 a = texelFetch(list, item), b = texelFetch(list, item + 1);
    vec3 center = uintBitsToFloat(a.xyz), half_way = uintBitsToFloat(b.xyz);
    float thick = max(uintBitsToFloat(b.w), 0.55 * pixel_mm);
    vec3 across = cross(toward, half_way);
    float seen = length(across); // projected length
    side = seen > 1e-6 * length(half_way) ? across / seen : right;
    along = cross(side, toward);
    float along_it = dot(half_way, toward) / max(dot(half_way, half_way), 1e-30);
    front = normalize(toward - half_way * along_it + 1e-6 * toward);
    size = vec2(seen, thick);
    vec2 way = vec2(corner == 0 || corner == 2 || corner == 5 ? -1.0 : 1.0, corner < 2 || corner == 3 ? -1.0 : 1.0);
    place = way * vec2(seen + thick, thick);
    strength = float(a.w >> 24 & 255u) / 255.0;
    color = vec3(a.w & 255u, a.w >> 8 & 255u, a.w >> 16 & 255u) / 255.0;
    gl_Position = view * vec4(center + way.x * (half_way + along * thick) + way.y * side * thick, 1.0);
    gl_Position.z -= nearer;
}
