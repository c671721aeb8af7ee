/* NIfTI volumes: written files are read back; broken ones are refused with one line and leave nothing. */
#include "check.h"

#include <dirent.h>
#include <unistd.h>

#include "core/image.h"
#include "io/nifti/nifti_volume.h"

static size_t files_in(const char *folder)
{
    size_t count = 0;
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(open);
    return count;
}

static const hot_grid oblique = {
    .size = {3, 2, 4},
    .to_world = {{1.2, -.5, .1, 10}, {.6, 1.1, -.2, -20}, {0, .3, 2.5, 30}},
    .space = HOT_SPACE_LPS,
};

static void round_trip(hot_context *context, const char *path, int datatype)
{
    enum { VOXELS = 24, VOLUMES = 2 };
    float values[VOXELS * VOLUMES], back[VOXELS * VOLUMES];
    uint8_t bytes[VOXELS * VOLUMES];
    hot_volume_writer writer;
    hot_image image;
    for (int i = 0; i < VOXELS * VOLUMES; i++)
        values[i] = bytes[i] = (uint8_t)(i * 5);
    const void *samples = datatype == DT_UINT8 ? (const void *)bytes : values;
    size_t width = datatype == DT_UINT8 ? 1 : sizeof(float);
    hot_status status = hot_nifti_begin(context, path, &oblique, VOLUMES, datatype, 0, 0, HOT_CONTENT_MAP, NULL, &writer);
    CHECK(status == HOT_OK, "%s", hot_context_message(context));
    for (int v = 0; status == HOT_OK && v < VOLUMES; v++)
        status = hot_volume_write(context, &writer, (const char *)samples + (size_t)v * VOXELS * width, VOXELS * width);
    CHECK(hot_volume_end(context, &writer, status) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_image_load_all(context, path, &image) == HOT_OK && image.values == VOLUMES, "%s",
          hot_context_message(context));
    if (image.values != VOLUMES)
        return;
    const hot_grid grid = image.grid;
    CHECK(grid.space == HOT_SPACE_RAS && grid.size[0] == 3 && grid.size[1] == 2 && grid.size[2] == 4, "grid");
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 4; column++)
            CHECK_NEAR(grid.to_world[row][column], (row < 2 ? -1 : 1) * oblique.to_world[row][column], 1e-6, "%d %d",
                       row, column);
    CHECK(hot_image_values(&image, 0, VOXELS, back) == HOT_OK, "floats");
    for (int v = 0; v < VOXELS; v++)
        for (int n = 0; n < VOLUMES; n++)
            CHECK(back[v * VOLUMES + n] == values[n * VOXELS + v], "sample %d %d of %s", v, n, path);
    hot_image_close(&image);
    unlink(path);
}

/* A file of `length` bytes from `head`; reading it must fail with a line that names it. */
static void refuse(hot_context *context, const char *path, const void *head, size_t length)
{
    hot_image image;
    FILE *file = fopen(path, "wb");
    fwrite(head, 1, length, file);
    fclose(file);
    CHECK(hot_image_load_all(context, path, &image) == HOT_ERROR_FORMAT, "%zu bytes of %s", length, path);
    CHECK(strstr(hot_context_message(context), path) && !strchr(hot_context_message(context), '\n'), "%s",
          hot_context_message(context));
    hot_image_close(&image);
    unlink(path);
}

int main(void)
{
    char folder[] = "/tmp/hot_nifti_XXXXXX";
    hot_context *context = NULL;
    hot_volume_writer writer;
    CHECK(mkdtemp(folder) && chdir(folder) == 0, "folder");
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    round_trip(context, "a.nii", DT_FLOAT32);
    round_trip(context, "a.nii.gz", DT_FLOAT32);
    round_trip(context, "b.nii.gz", DT_UINT8);

    char junk[400] = "no image";
    refuse(context, "junk.nii", junk, sizeof junk);
    refuse(context, "junk.nii.gz", junk, sizeof junk);
    refuse(context, "empty.nii", junk, 0);
    nifti_1_header header = {.sizeof_hdr = 348, .dim = {3, 20, 20, 20, 1, 1, 1, 1}, .datatype = DT_FLOAT32,
                             .bitpix = 32, .vox_offset = 352, .magic = "n+1"};
    memcpy(junk, &header, sizeof header);
    refuse(context, "short.nii", junk, sizeof junk);
    for (int axis = 1; axis < 5; axis++)
        header.dim[axis] = 32767;
    header.dim[0] = 4;
    memcpy(junk, &header, sizeof header);
    refuse(context, "absurd.nii", junk, sizeof junk);

    /* too few samples, a full disk, no such folder, an axis too long */
    CHECK(hot_nifti_begin(context, "few.nii", &oblique, 1, DT_UINT8, 0, 0, HOT_CONTENT_MAP, NULL, &writer) == HOT_OK,
          "begin");
    CHECK(hot_volume_end(context, &writer, HOT_OK) == HOT_ERROR_ARGUMENT, "too few");
    hot_status status = hot_nifti_begin(context, "/dev/full", &oblique, 1, DT_UINT8, 0, 0, HOT_CONTENT_MAP, NULL, &writer);
    if (status == HOT_OK)
        status = hot_volume_write(context, &writer, junk, 24);
    CHECK(hot_volume_end(context, &writer, status) == HOT_ERROR_FILE, "full disk");
    CHECK(strstr(hot_context_message(context), "No space"), "%s", hot_context_message(context));
    CHECK(hot_nifti_begin(context, "/dev/null/a.nii", &oblique, 1, DT_UINT8, 0, 0, HOT_CONTENT_MAP, NULL, &writer) ==
              HOT_ERROR_FILE,
          "folder");
    hot_grid longer = oblique;
    longer.size[1] = 40000;
    CHECK(hot_nifti_begin(context, "c.nii", &longer, 1, DT_UINT8, 0, 0, HOT_CONTENT_MAP, NULL, &writer) == HOT_ERROR_DATA,
          "too long");
    CHECK(files_in(folder) == 0, "%zu files left", files_in(folder));
    CHECK(chdir("/") == 0 && rmdir(folder) == 0, "empty folder");
    hot_context_destroy(&context);
    HOT_TEST_END();
}
