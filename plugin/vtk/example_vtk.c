/* How a program in C gets VTK's objects without being linked to VTK: it loads libhotvtk when it wants it.
 *
 *   example_vtk libhotvtk.so.0.3 lines  directions.nrrd out.vtp
 *   example_vtk libhotvtk.so.0.3 image  directions.nrrd out.vti
 *   example_vtk libhotvtk.so.0.3 glyphs tensors.nrrd    out.vtp */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <hotfiber/vtk.h>

typedef struct vtk_layer {
    void *handle;
    hot_vtk_lines_function *lines;
    hot_vtk_image_function *image;
    hot_vtk_glyphs_function *glyphs;
    hot_vtk_write_function *write;
    hot_vtk_release_function *release;
    hot_vtk_version_function *version;
} vtk_layer;

/* 0 when the library is not there or is another one; dlerror tells. */
static int load_layer(const char *path, vtk_layer *vtk)
{
    vtk->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!vtk->handle)
        return 0;
    /* POSIX says that a function's address may be kept in a void pointer; C11 wants it copied. */
    const struct { const char *name; void *to; } wanted[] = {
        {"hot_vtk_lines", &vtk->lines}, {"hot_vtk_image", &vtk->image},     {"hot_vtk_glyphs", &vtk->glyphs},
        {"hot_vtk_write", &vtk->write}, {"hot_vtk_release", &vtk->release}, {"hot_vtk_version", &vtk->version},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *found = dlsym(vtk->handle, wanted[i].name);
        if (!found)
            return 0;
        memcpy(wanted[i].to, &found, sizeof found);
    }
    return 1;
}

int main(int argc, char **argv)
{
    vtk_layer vtk = {0};
    hot_context *context = NULL;
    hot_fiber_field *fibers = NULL;
    hot_tensor_field *tensors = NULL;
    void *object = NULL; /* a vtkPolyData or vtkImageData */
    if (argc != 5) {
        fprintf(stderr, "usage: example_vtk LIBRARY lines|image|glyphs INPUT OUTPUT\n");
        return 2;
    }
    const char *what = argv[2], *input = argv[3], *output = argv[4];
    if (!load_layer(argv[1], &vtk)) {
        fprintf(stderr, "example_vtk: %s\n", dlerror());
        return 1;
    }
    hot_status status = hot_context_create(NULL, &context);
    if (status != HOT_OK)
        return 1;
    if (strcmp(what, "glyphs") == 0) {
        status = hot_tensor_field_load(context, input, &tensors);
        if (status == HOT_OK)
            status = vtk.glyphs(context, tensors, &object);
    } else {
        status = hot_fiber_field_load(context, input, &fibers);
        if (status == HOT_OK)
            status = strcmp(what, "image") == 0 ? vtk.image(context, fibers, &object)
                                                : vtk.lines(context, fibers, &object);
    }
    /* The object owns its memory: what it was made from may go. */
    hot_fiber_field_destroy(&fibers);
    hot_tensor_field_destroy(&tensors);
    if (status == HOT_OK)
        status = vtk.write(context, object, output);
    if (status == HOT_OK)
        printf("%s: %s, written by VTK %s\n", output, what, vtk.version());
    else
        fprintf(stderr, "example_vtk: %s\n", hot_context_message(context));
    vtk.release(&object);
    hot_context_destroy(&context);
    dlclose(vtk.handle);
    return status == HOT_OK ? 0 : 1;
}
