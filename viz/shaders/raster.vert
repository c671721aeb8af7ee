// A horizontal band as wide as the viewport.
uniform vec2 band; // bottom and top, clip coordinates

void main()
{
    gl_Position = vec4((gl_VertexID & 1) == 0 ? -1.0 : 1.0, gl_VertexID < 2 ? band.x : band.y, 0.0, 1.0);
}
