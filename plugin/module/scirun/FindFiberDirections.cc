// See FindFiberDirections.h. This is the only file that uses Teem: SCIRun builds its own, so hotfiber gets sizes, a
// matrix and arrays of numbers, never an Nrrd. Teem calls hold NrrdGuard, because Teem's error stack is global;
// hotfiber runs outside of it.
#include <Modules/Legacy/Teem/HotFiber/FindFiberDirections.h>
#include <Core/Datatypes/Legacy/Nrrd/NrrdData.h>

#include <hotfiber/hotfiber.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

using namespace SCIRun;
using namespace SCIRun::Modules::Teem;
using namespace SCIRun::Dataflow::Networks;
using namespace SCIRun::Core::Algorithms::Teem;

MODULE_INFO_DEF(FindFiberDirections, Tend, Teem)

ALGORITHM_PARAMETER_DEF(Teem, HotFiberOrder);
ALGORITHM_PARAMETER_DEF(Teem, HotFiberMaxFibers);
ALGORITHM_PARAMETER_DEF(Teem, HotFiberMethod);

FindFiberDirections::FindFiberDirections() : Module(staticInfo_)
{
  INITIALIZE_PORT(DWI);
  INITIALIZE_PORT(Fiber1);
  INITIALIZE_PORT(Fiber2);
  INITIALIZE_PORT(Fiber3);
  INITIALIZE_PORT(Tensors);
}

void FindFiberDirections::setStateDefaults()
{
  auto state = get_state();
  state->setValue(Parameters::HotFiberOrder, 0);
  state->setValue(Parameters::HotFiberMaxFibers, 3);
  state->setValue(Parameters::HotFiberMethod, std::string("signal"));
}

namespace
{
  // Diffusion data as plain numbers: what hotfiber takes.
  struct PlainData
  {
    hot_grid grid;
    std::vector<double> b, gradients; // s/mm^2; 3 per volume, in world axes
    std::vector<float> signals;       // volume by volume, i fastest
  };

  // A key's value, "" when it is not there.
  std::string keyValue(const Nrrd* nrrd, const char* key)
  {
    char* text = nrrdKeyValueGet(nrrd, key);
    std::string value(text ? text : "");
    airFree(text);
    return value;
  }

  // b-values and gradients from the NA-MIC keys: several shells are coded in the gradients' lengths, b_i = b |g_i|^2
  // after the longest has been made 1; the measurement frame's vectors are columns. Returns what is wrong, "" when
  // nothing is.
  std::string readGradients(const Nrrd* nrrd, size_t volumes, PlainData& data)
  {
    double nominal = 0, longest = 0, frame[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (keyValue(nrrd, "modality") != "DWMRI")
      return "the NRRD is not diffusion-weighted: it has no key modality:=DWMRI";
    if (std::sscanf(keyValue(nrrd, "DWMRI_b-value").c_str(), "%lf", &nominal) != 1 || !(nominal > 0))
      return "the NRRD has no key DWMRI_b-value";
    if (AIR_EXISTS(nrrd->measurementFrame[0][0]))
      for (int column = 0; column < 3; column++)
        for (int row = 0; row < 3; row++)
          frame[row][column] = nrrd->measurementFrame[column][row];
    data.b.assign(volumes, 0);
    data.gradients.assign(3 * volumes, 0);
    for (size_t v = 0; v < volumes; v++)
    {
      char key[64];
      double g[3];
      std::snprintf(key, sizeof key, "DWMRI_gradient_%04zu", v);
      if (std::sscanf(keyValue(nrrd, key).c_str(), "%lf %lf %lf", &g[0], &g[1], &g[2]) != 3)
        return std::string("the NRRD has no usable key ") + key;
      for (int row = 0; row < 3; row++)
        data.gradients[3 * v + row] = frame[row][0] * g[0] + frame[row][1] * g[1] + frame[row][2] * g[2];
      data.b[v] = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
      longest = std::fmax(longest, data.b[v]);
    }
    if (!(longest > 0))
      return "all gradients of the NRRD are zero";
    for (size_t v = 0; v < volumes; v++)
      data.b[v] *= nominal / longest;
    return "";
  }

  // Everything out of the Nrrd. Returns what is wrong, "" when nothing is.
  std::string takeOut(const Nrrd* nrrd, PlainData& data)
  {
    unsigned int axes[3], spatial = 0, list = 4;
    size_t step[4], total = 1;
    if (!nrrd || nrrd->dim != 4 || nrrd->type == nrrdTypeBlock)
      return "diffusion data are 4 axes of numbers: three of space, one of volumes";
    for (unsigned int axis = 0; axis < 4; axis++)
    {
      step[axis] = total;
      total *= nrrd->axis[axis].size;
      const int kind = nrrd->axis[axis].kind;
      if ((kind == nrrdKindList || kind == nrrdKindVector || !AIR_EXISTS(nrrd->axis[axis].spaceDirection[0])) &&
          list == 4)
        list = axis;
      else if (spatial < 3)
        axes[spatial++] = axis;
    }
    if (list == 4 || spatial != 3 || nrrd->spaceDim != 3)
      return "the NRRD does not tell which axis is that of the volumes, or the orientation of the others";
    std::memset(&data.grid, 0, sizeof data.grid);
    data.grid.space = nrrd->space == nrrdSpaceRightAnteriorSuperior  ? HOT_SPACE_RAS
                      : nrrd->space == nrrdSpaceLeftAnteriorSuperior ? HOT_SPACE_LAS
                      : nrrd->space == nrrdSpaceLeftPosteriorSuperior ? HOT_SPACE_LPS
                                                                      : HOT_SPACE_UNKNOWN;
    for (int a = 0; a < 3; a++)
    {
      data.grid.size[a] = nrrd->axis[axes[a]].size;
      for (int row = 0; row < 3; row++)
        data.grid.to_world[row][a] = nrrd->axis[axes[a]].spaceDirection[row];
    }
    for (int row = 0; row < 3; row++)
      data.grid.to_world[row][3] = AIR_EXISTS(nrrd->spaceOrigin[row]) ? nrrd->spaceOrigin[row] : 0;
    const size_t volumes = nrrd->axis[list].size, *size = data.grid.size;
    const std::string wrong = readGradients(nrrd, volumes, data);
    if (!wrong.empty())
      return wrong;
    data.signals.resize(total);
    float (*lookup)(const void*, size_t) = nrrdFLookup[nrrd->type];
    size_t at = 0;
    for (size_t v = 0; v < volumes; v++)
      for (size_t k = 0; k < size[2]; k++)
        for (size_t j = 0; j < size[1]; j++)
          for (size_t i = 0; i < size[0]; i++)
            data.signals[at++] = lookup(nrrd->data,
                                        v * step[list] + i * step[axes[0]] + j * step[axes[1]] + k * step[axes[2]]);
    return "";
  }

  size_t voxelsOf(const hot_grid* grid) { return grid->size[0] * grid->size[1] * grid->size[2]; }

  // A field of `values` numbers per voxel, with the geometry of the data; nullptr without memory.
  Nrrd* newField(const hot_grid* grid, size_t values, int kind)
  {
    Nrrd* nrrd = nrrdNew();
    const size_t sizes[4] = {values, grid->size[0], grid->size[1], grid->size[2]};
    if (!nrrd || nrrdAlloc_nva(nrrd, nrrdTypeFloat, 4, sizes))
    {
      nrrdNuke(nrrd);
      return nullptr;
    }
    if (grid->space == HOT_SPACE_UNKNOWN)
      nrrdSpaceDimensionSet(nrrd, 3);
    else
      nrrdSpaceSet(nrrd, grid->space == HOT_SPACE_RAS   ? nrrdSpaceRightAnteriorSuperior
                         : grid->space == HOT_SPACE_LAS ? nrrdSpaceLeftAnteriorSuperior
                                                        : nrrdSpaceLeftPosteriorSuperior);
    nrrd->axis[0].kind = kind;
    for (int a = 0; a < 3; a++)
    {
      NrrdAxisInfo* axis = &nrrd->axis[a + 1];
      axis->kind = nrrdKindSpace;
      axis->center = nrrdCenterCell;
      for (int r = 0; r < 3; r++)
        axis->spaceDirection[r] = grid->to_world[r][a];
    }
    for (int r = 0; r < 3; r++)
      nrrd->spaceOrigin[r] = grid->to_world[r][3];
    return nrrd;
  }

  // One fibre as a field of 3-vectors.
  Nrrd* putIn(const hot_fiber_field* fibers, int fiber)
  {
    const hot_grid* grid = hot_fiber_field_grid(fibers);
    const size_t row = 3 * static_cast<size_t>(hot_fiber_field_max(fibers));
    const float* peaks = hot_fiber_field_peaks(fibers);
    Nrrd* nrrd = newField(grid, 3, nrrdKind3Vector);
    float* to = nrrd ? static_cast<float*>(nrrd->data) : nullptr;
    for (size_t voxel = 0; to && voxel < voxelsOf(grid); voxel++)
      for (int d = 0; d < 3; d++)
        to[3 * voxel + d] = 3 * static_cast<size_t>(fiber) < row ? peaks[voxel * row + 3 * fiber + d] : 0;
    return nrrd;
  }

  // Tensors of order 2: the confidence as the mask, then six values.
  Nrrd* putIn(const hot_tensor_field* tensors)
  {
    const hot_grid* grid = hot_tensor_field_grid(tensors);
    Nrrd* nrrd = newField(grid, 7, nrrdKind3DMaskedSymMatrix);
    if (nrrd)
      std::memcpy(nrrd->data, hot_tensor_field_values(tensors), 7 * voxelsOf(grid) * sizeof(float));
    return nrrd;
  }

  // Called by all computing threads.
  int onStop(void* module)
  {
    return static_cast<const FindFiberDirections*>(module)->stopRequested();
  }

  // Called by hotfiber from the module's own thread.
  int onProgress(void* module, const char*, double fraction)
  {
    auto updater = static_cast<FindFiberDirections*>(module)->getUpdaterFunc();
    if (updater)
      updater(fraction);
    return 0;
  }

  void onLog(void* module, hot_log_level level, const char* line)
  {
    if (level == HOT_LOG_WARNING)
      static_cast<FindFiberDirections*>(module)->warning(line);
    else
      static_cast<FindFiberDirections*>(module)->remark(line);
  }
}

void FindFiberDirections::execute()
{
  auto input = getRequiredInput(DWI);
  if (!needToExecute())
    return;

  PlainData data;
  std::string wrong;
  {
    NrrdGuard guard;
    wrong = takeOut(input->getNrrd(), data);
  }
  if (!wrong.empty())
  {
    error(wrong);
    return;
  }

  auto state = get_state();
  const std::string method = state->getValue(Parameters::HotFiberMethod).toString();
  hot_fit_options fit = HOT_FIT_OPTIONS_INIT;
  fit.order = state->getValue(Parameters::HotFiberOrder).toInt();
  hot_peaks_options peaks = HOT_PEAKS_OPTIONS_INIT;
  peaks.method = method.c_str();
  peaks.max_fibers = state->getValue(Parameters::HotFiberMaxFibers).toInt();
  hot_run_options options = HOT_RUN_OPTIONS_INIT;
  options.fit = &fit;
  options.peaks = &peaks;

  hot_context_options settings = HOT_CONTEXT_OPTIONS_INIT;
  settings.seed = 1;
  settings.progress = onProgress;
  settings.progress_user = this;
  settings.stop = onStop;
  settings.stop_user = this;
  settings.log = onLog;
  settings.log_user = this;
  hot_context* context = nullptr;
  hot_dwi* dwi = nullptr;
  hot_run_fields fields = {};
  hot_tensor_field* tensors = nullptr;
  hot_status status = hot_context_create(&settings, &context);
  if (status == HOT_OK)
    status = hot_dwi_create(context, &data.grid, data.b.size(), data.b.data(), data.gradients.data(),
                            data.signals.data(), &dwi);
  if (status == HOT_OK)
    status = hot_run_compute(context, dwi, &options, &fields, nullptr);
  if (status == HOT_OK)
  {
    hot_fit_options diffusion = HOT_FIT_OPTIONS_INIT;
    diffusion.model = "adc";
    diffusion.order = 2;
    status = hot_tensor_field_fit(context, dwi, fields.mask, &diffusion, &tensors);
  }
  if (status == HOT_ERROR_CANCELLED)
    warning("stopped: no output is sent");
  else if (status != HOT_OK)
    error(context ? hot_context_message(context) : hot_status_text(status));
  NrrdDataHandle outputs[4];
  if (status == HOT_OK)
  {
    NrrdGuard guard;
    for (int output = 0; output < 4; output++)
      if (Nrrd* nrrd = output < 3 ? putIn(fields.fibers, output) : putIn(tensors))
        outputs[output] = NrrdDataHandle(new NrrdData(nrrd));
  }
  hot_tensor_field_destroy(&tensors);
  hot_run_fields_free(&fields);
  hot_dwi_destroy(&dwi);
  hot_context_destroy(&context);
  if (status != HOT_OK)
    return;
  if (!outputs[0] || !outputs[1] || !outputs[2] || !outputs[3])
  {
    error("out of memory for the fields");
    return;
  }
  sendOutput(Fiber1, outputs[0]);
  sendOutput(Fiber2, outputs[1]);
  sendOutput(Fiber3, outputs[2]);
  sendOutput(Tensors, outputs[3]);
}
