/* The one C++ file: fields into VTK's objects. All values are computed by libhotfiber; here they only change hands. */
#include <hotfiber/vtk.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <unistd.h>

#include <vtkCallbackCommand.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkErrorCode.h>
#include <vtkExecutive.h>
#include <vtkFieldData.h>
#include <vtkFloatArray.h>
#include <vtkImageData.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkStringArray.h>
#include <vtkTypeInt64Array.h>
#include <vtkUnsignedCharArray.h>
#include <vtkVersion.h>
#include <vtkXMLImageDataWriter.h>
#include <vtkXMLPolyDataWriter.h>

#include "common/entry.h"

namespace {

/* C++ may throw, C may not see it. */
template <typename Work> hot_status guarded(hot_context *context, Work work)
{
    try {
        return work();
    } catch (const std::bad_alloc &) {
        return hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory while making an object of VTK");
    } catch (const std::exception &error) {
        return hot_context_fail(context, HOT_ERROR_DATA, "VTK failed: %s", error.what());
    } catch (...) {
        return hot_context_fail(context, HOT_ERROR_DATA, "VTK failed");
    }
}

/* An array whose memory comes from malloc and goes with the array: VTK's own allocation would print when memory is
 * short. */
template <typename Array> vtkSmartPointer<Array> make_array(const char *name, int components, size_t tuples)
{
    typedef typename Array::ValueType value;
    if (tuples > static_cast<size_t>(PTRDIFF_MAX) / sizeof(value) / static_cast<size_t>(components))
        throw std::bad_alloc();
    size_t count = tuples * static_cast<size_t>(components);
    value *memory = static_cast<value *>(std::malloc(count ? count * sizeof(value) : 1));
    if (!memory)
        throw std::bad_alloc();
    vtkSmartPointer<Array> array = vtkSmartPointer<Array>::New();
    array->SetNumberOfComponents(components);
    array->SetArray(memory, static_cast<vtkIdType>(count), 0, Array::VTK_DATA_ARRAY_FREE);
    if (name)
        array->SetName(name);
    return array;
}

void say_space(vtkDataObject *object)
{
    vtkSmartPointer<vtkStringArray> space = vtkSmartPointer<vtkStringArray>::New();
    space->SetName("SPACE");
    space->InsertNextValue("LPS");
    object->GetFieldData()->AddArray(space);
}

void set_points(vtkPolyData *polydata, vtkFloatArray *positions)
{
    vtkSmartPointer<vtkPoints> points = vtkSmartPointer<vtkPoints>::New();
    points->SetData(positions);
    polydata->SetPoints(points);
}

/* Cells that have `corners` points each. */
vtkSmartPointer<vtkCellArray> make_cells(vtkTypeInt64Array *connectivity, size_t cells, size_t corners)
{
    vtkSmartPointer<vtkTypeInt64Array> offsets = make_array<vtkTypeInt64Array>(nullptr, 1, cells + 1);
    vtkTypeInt64 *offset = offsets->GetPointer(0);
    for (size_t cell = 0; cell <= cells; cell++)
        offset[cell] = static_cast<vtkTypeInt64>(cell * corners);
    vtkSmartPointer<vtkCellArray> array = vtkSmartPointer<vtkCellArray>::New();
    array->SetData(offsets, connectivity);
    return array;
}

/* The caller's own reference. */
template <typename Object> void hand_over(Object *object, void **to)
{
    object->Register(nullptr);
    *to = static_cast<void *>(object);
}

/* ---- Lines ----------------------------------------------------------------------------------------------- */

hot_status make_lines(hot_context *context, const hot_fiber_field *fibers, void **made)
{
    const size_t count = hot_fiber_field_segments(fibers, HOT_SPACE_LPS, nullptr, nullptr, nullptr, nullptr);
    auto positions = make_array<vtkFloatArray>("points", 3, 2 * count);
    auto connectivity = make_array<vtkTypeInt64Array>(nullptr, 1, 2 * count);
    auto direction = make_array<vtkFloatArray>("direction", 3, count);
    auto amplitude = make_array<vtkFloatArray>("amplitude", 1, count);
    auto fiber = make_array<vtkUnsignedCharArray>("fiber", 1, count);
    auto color = make_array<vtkUnsignedCharArray>("color", 3, count);
    hot_fiber_field_segments(fibers, HOT_SPACE_LPS, positions->GetPointer(0), direction->GetPointer(0),
                             amplitude->GetPointer(0), fiber->GetPointer(0));
    hot_status status = hot_context_progress(context, "vtk lines", 0.5);
    if (status != HOT_OK)
        return status;
    for (size_t i = 0; i < 2 * count; i++)
        connectivity->GetPointer(0)[i] = static_cast<vtkTypeInt64>(i);
    for (size_t i = 0; i < 3 * count; i++)
        color->GetPointer(0)[i] = static_cast<unsigned char>(std::lround(255 * std::fabs(direction->GetPointer(0)[i])));

    auto polydata = vtkSmartPointer<vtkPolyData>::New();
    set_points(polydata, positions);
    polydata->SetLines(make_cells(connectivity, count, 2));
    polydata->GetCellData()->SetVectors(direction);
    polydata->GetCellData()->SetScalars(amplitude);
    polydata->GetCellData()->AddArray(fiber);
    polydata->GetCellData()->AddArray(color);
    say_space(polydata);
    hand_over(polydata.Get(), made);
    return HOT_OK;
}

/* ---- Image ----------------------------------------------------------------------------------------------- */

hot_status make_image(hot_context *context, const hot_fiber_field *fibers, void **made)
{
    const hot_grid *grid = hot_fiber_field_grid(fibers);
    const size_t voxels = grid->size[0] * grid->size[1] * grid->size[2];
    const size_t most = static_cast<size_t>(hot_fiber_field_max(fibers));
    double to_lps[3], origin[3], spacing[3], direction[9];
    hot_space_ras_sign(grid->space, to_lps);
    to_lps[0] = -to_lps[0];
    to_lps[1] = -to_lps[1];
    for (int axis = 0; axis < 3; axis++) {
        const double column[3] = {grid->to_world[0][axis], grid->to_world[1][axis], grid->to_world[2][axis]};
        spacing[axis] = std::sqrt(column[0] * column[0] + column[1] * column[1] + column[2] * column[2]);
        origin[axis] = to_lps[axis] * grid->to_world[axis][3];
        for (int d = 0; d < 3; d++)
            direction[3 * d + axis] = to_lps[d] * column[d] / spacing[axis];
    }
    auto image = vtkSmartPointer<vtkImageData>::New();
    image->SetDimensions(static_cast<int>(grid->size[0]), static_cast<int>(grid->size[1]),
                         static_cast<int>(grid->size[2]));
    image->SetOrigin(origin);
    image->SetSpacing(spacing);
    image->SetDirectionMatrix(direction);

    const float *peaks = hot_fiber_field_peaks(fibers);
    for (size_t fiber = 0; fiber < most; fiber++) {
        auto vectors = make_array<vtkFloatArray>(("fiber_" + std::to_string(fiber + 1)).c_str(), 3, voxels);
        float *to = vectors->GetPointer(0);
        for (size_t voxel = 0; voxel < voxels; voxel++)
            for (size_t d = 0; d < 3; d++) {
                const float part = peaks[3 * (voxel * most + fiber) + d];
                /* never -0 */
                to[3 * voxel + d] = part == 0 ? 0 : static_cast<float>(to_lps[d]) * part;
            }
        if (fiber == 0)
            image->GetPointData()->SetVectors(vectors);
        else
            image->GetPointData()->AddArray(vectors);
        hot_status status = hot_context_progress(context, "vtk image",
                                                 (static_cast<double>(fiber) + 1) / static_cast<double>(most));
        if (status != HOT_OK)
            return status;
    }
    auto counts = make_array<vtkUnsignedCharArray>("nfibers", 1, voxels);
    std::memcpy(counts->GetPointer(0), hot_fiber_field_counts(fibers), voxels);
    image->GetPointData()->SetScalars(counts);
    say_space(image);
    hand_over(image.Get(), made);
    return HOT_OK;
}

/* ---- Glyphs ---------------------------------------------------------------------------------------------- */

hot_status fill_glyphs(hot_context *context, const hot_tensor_field *tensors, const hot_glyphs *glyphs, void **made)
{
    const hot_grid *grid = hot_tensor_field_grid(tensors);
    const size_t voxels = grid->size[0] * grid->size[1] * grid->size[2];
    const size_t count = hot_glyphs_count(glyphs), vertices = hot_glyphs_vertices(glyphs);
    const size_t corners = 3 * hot_glyphs_triangles(glyphs);
    if (count > INT32_MAX / vertices) /* what other programs can still number */
        return hot_context_fail(context, HOT_ERROR_DATA, "%zu glyphs of %zu points each are too many; fit fewer voxels",
                                count, vertices);
    auto positions = make_array<vtkFloatArray>("points", 3, count * vertices);
    auto color = make_array<vtkUnsignedCharArray>("color", 3, count * vertices);
    auto connectivity = make_array<vtkTypeInt64Array>(nullptr, 1, count * corners);
    const uint32_t *faces = hot_glyphs_faces(glyphs);
    size_t glyph = 0;
    for (size_t voxel = 0; voxel < voxels; voxel++) {
        if (voxel % 4096 == 0) {
            hot_status status = hot_context_progress(context, "vtk glyphs",
                                                     static_cast<double>(voxel) / static_cast<double>(voxels));
            if (status != HOT_OK)
                return status;
        }
        if (glyph == count || !hot_glyphs_surface(glyphs, voxel, positions->GetPointer(0) + 3 * glyph * vertices))
            continue;
        std::memcpy(color->GetPointer(0) + 3 * glyph * vertices, hot_glyphs_colors(glyphs), 3 * vertices);
        vtkTypeInt64 *corner = connectivity->GetPointer(0) + glyph * corners;
        for (size_t i = 0; i < corners; i++)
            corner[i] = static_cast<vtkTypeInt64>(glyph * vertices + faces[i]);
        glyph++;
    }
    auto polydata = vtkSmartPointer<vtkPolyData>::New();
    set_points(polydata, positions);
    polydata->SetPolys(make_cells(connectivity, count * corners / 3, 3));
    polydata->GetPointData()->SetScalars(color);
    say_space(polydata);
    hand_over(polydata.Get(), made);
    return HOT_OK;
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

/* Keeps what VTK would print first, as one line. */
void keep_message(vtkObject *, unsigned long, void *kept, void *said)
{
    std::string *message = static_cast<std::string *>(kept);
    if (message->empty() && said)
        *message = static_cast<const char *>(said);
    for (char &c : *message)
        c = c == '\n' ? ' ' : c;
}

bool ends_in(const std::string &name, const char *suffix)
{
    const size_t length = std::strlen(suffix);
    return name.size() > length && name.compare(name.size() - length, length, suffix) == 0;
}

hot_status write_object(hot_context *context, vtkDataObject *object, const std::string &path)
{
    const bool image = vtkImageData::SafeDownCast(object) != nullptr;
    const char *suffix = image ? ".vti" : ".vtp";
    if (!ends_in(path, suffix))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a %s goes into a file whose name ends in %s, not '%s'",
                                object->GetClassName(), suffix, path.c_str());
    vtkSmartPointer<vtkXMLWriter> writer;
    if (image)
        writer = vtkSmartPointer<vtkXMLImageDataWriter>::New();
    else
        writer = vtkSmartPointer<vtkXMLPolyDataWriter>::New();
    const std::string temporary = path + ".part-" + std::to_string(getpid()); /* same folder: renamed when whole */
    std::string said;
    vtkSmartPointer<vtkCallbackCommand> observer = vtkSmartPointer<vtkCallbackCommand>::New();
    observer->SetCallback(keep_message);
    observer->SetClientData(&said);
    for (vtkObject *speaker : {static_cast<vtkObject *>(writer), static_cast<vtkObject *>(writer->GetExecutive())}) {
        speaker->AddObserver(vtkCommand::ErrorEvent, observer);
        speaker->AddObserver(vtkCommand::WarningEvent, observer);
    }
    writer->SetInputDataObject(object);
    writer->SetFileName(temporary.c_str());
    writer->SetDataModeToAppended();
    writer->EncodeAppendedDataOff();
    const bool done = writer->Write() == 1 && writer->GetErrorCode() == vtkErrorCode::NoError;
    if (done && std::rename(temporary.c_str(), path.c_str()) == 0)
        return HOT_OK;
    const int reason = errno;
    std::remove(temporary.c_str());
    if (done)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", path.c_str(), std::strerror(reason));
    const unsigned long code = writer->GetErrorCode(); /* the system's, or one of VTK's own */
    if (code != vtkErrorCode::NoError && code < vtkErrorCode::FirstVTKErrorCode)
        said = std::strerror(static_cast<int>(code));
    return hot_context_fail(context, HOT_ERROR_FILE, "VTK cannot write '%s': %s", path.c_str(),
                            code == vtkErrorCode::OutOfDiskSpaceError ? "the disk is full" : said.c_str());
}

} // namespace

hot_status hot_vtk_lines(hot_context *context, const hot_fiber_field *fibers, void **polydata)
{
    HOT_ENTRY(context);
    *polydata = nullptr;
    return guarded(context, [&] { return make_lines(context, fibers, polydata); });
}

hot_status hot_vtk_image(hot_context *context, const hot_fiber_field *fibers, void **image)
{
    HOT_ENTRY(context);
    *image = nullptr;
    return guarded(context, [&] { return make_image(context, fibers, image); });
}

hot_status hot_vtk_glyphs(hot_context *context, const hot_tensor_field *tensors, void **polydata)
{
    HOT_ENTRY(context);
    hot_glyphs *glyphs = nullptr;
    *polydata = nullptr;
    hot_status status = hot_glyphs_create(context, tensors, HOT_SPACE_LPS, &glyphs);
    if (status == HOT_OK)
        status = guarded(context, [&] { return fill_glyphs(context, tensors, glyphs, polydata); });
    hot_glyphs_destroy(&glyphs);
    return status;
}

hot_status hot_vtk_write(hot_context *context, void *object, const char *path)
{
    HOT_ENTRY(context);
    return guarded(context, [&] { return write_object(context, static_cast<vtkDataObject *>(object), path); });
}

void hot_vtk_release(void **object)
{
    if (!object || !*object)
        return;
    static_cast<vtkDataObject *>(*object)->UnRegister(nullptr);
    *object = nullptr;
}

const char *hot_vtk_version(void) { return vtkVersion::GetVTKVersion(); }
