/* libhotvtk: directions and tensors as objects of VTK 9, for programs in C.
 *
 * VTK is C++; this header is not. A host that has its own VTK should not load another one: link or dlopen libhotvtk
 * only where the VTK of the system is the host's (hotfiber's own .vtp and .vti files need no VTK at all):
 *
 *     void *library = dlopen("libhotvtk.so.0.3", RTLD_NOW | RTLD_LOCAL);
 *     hot_vtk_lines_function *lines = (hot_vtk_lines_function *)dlsym(library, "hot_vtk_lines");
 *
 * Every object is handed over as a pointer to a vtkPolyData or vtkImageData, with one reference that is the caller's:
 * in C++ `vtkSmartPointer<vtkPolyData>::Take(static_cast<vtkPolyData *>(object))`, in C hot_vtk_release. An object owns
 * its
 * memory: it outlives the field, the context and the library's other objects.
 *
 * Coordinates and vectors are LPS mm, as .vtp and .vti files hold them, and the field data have a string SPACE = "LPS".
 * Errors of all: HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED; the message is in the context. VTK prints nothing. Objects of
 * different contexts may be made at once from any threads. */
#ifndef HOTFIBER_VTK_H
#define HOTFIBER_VTK_H

#include <hotfiber/hotfiber.h>

HOT_C_BEGIN

/* The types of the functions below, for dlsym. */
typedef hot_status hot_vtk_lines_function(hot_context *context, const hot_fiber_field *fibers, void **polydata);
typedef hot_status hot_vtk_image_function(hot_context *context, const hot_fiber_field *fibers, void **image);
typedef hot_status hot_vtk_glyphs_function(hot_context *context, const hot_tensor_field *tensors, void **polydata);
typedef hot_status hot_vtk_write_function(hot_context *context, void *object, const char *path);
typedef void hot_vtk_release_function(void **object);
typedef const char *hot_vtk_version_function(void);

/* A vtkPolyData with one line per fibre, centred on its voxel, the largest amplitude as long as a voxel's smallest
 * side. Cell data: direction (float x 3, unit; the active vectors), amplitude (float; the active scalars), fiber
 * (uint8, 1 = the voxel's longest), color (uint8 x 3, |x| |y| |z|). */
HOT_API hot_vtk_lines_function hot_vtk_lines;

/* A vtkImageData on the grid of the field: origin, spacing and direction matrix are the grid's. Point data: fiber_1,
 * fiber_2 ... (float x 3, length = amplitude, absent = 0; the first is the active vectors), nfibers (uint8; the active
 * scalars). */
HOT_API hot_vtk_image_function hot_vtk_image;

/* A vtkPolyData of triangles: the surface r(x) = A x^m of every fitted voxel, of any order, closed, outside counter-
 * clockwise, 95 of 100 within their voxel. Point data: color (uint8 x 3, |x| |y| |z|; the active scalars). Further
 * errors: HOT_ERROR_DATA (more than 2^31 - 1 points). */
HOT_API hot_vtk_glyphs_function hot_vtk_glyphs;

/* Writes an object made here by VTK's own writer (compressed): vtkPolyData to a name in .vtp, vtkImageData to one in
 * .vti. The file appears whole or not at all. Further errors: HOT_ERROR_ARGUMENT (the name says something else),
 * HOT_ERROR_FILE. */
HOT_API hot_vtk_write_function hot_vtk_write;

/* Gives the caller's reference back and sets *object to NULL; NULL and a pointer to NULL are accepted. */
HOT_API hot_vtk_release_function hot_vtk_release;

/* The version of the VTK that is used, "9.1.0"; static storage. */
HOT_API hot_vtk_version_function hot_vtk_version;

HOT_C_END
#endif
