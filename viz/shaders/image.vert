// The plane of a slice, much larger than the grid; the fragment shader discards the rest.
uniform mat4 view;
uniform vec3 point, across, along; // RAS: a point of the plane, and half its sides
uniform float farther;             // clip depth added to move it away from the viewer
out vec3 ras;

void main()
{
    vec2 way = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    ras = point + way.x * across + way.y * along;
    gl_Position = view * vec4(ras, 1.0);
    gl_Position.z += farther;
}
