// FindFiberDirections: diffusion-weighted data in; a field of 3-vectors per fibre and diffusion tensors out.
//
// In:  DWI         what ReadNrrd makes of an NRRD with the NA-MIC keys (modality, DWMRI_b-value, DWMRI_gradient_NNNN)
// Out: Fiber1..3   3 x i x j x k floats for ConvertNrrdToField: world vectors, as long as the fibre is strong, 0 where
//                  none is
//      Tensors     7 x i x j x k floats for ConvertNrrdToField and TendFiber: mask, xx xy xz yy yz zz in world axes
// State: Order (0: 6, or what the directions determine), MaxFibers (1 to 3), Method ("signal", "sshopm", "maxima",
//        "lowrank")
#ifndef MODULES_LEGACY_TEEM_HOTFIBER_FINDFIBERDIRECTIONS_H
#define MODULES_LEGACY_TEEM_HOTFIBER_FINDFIBERDIRECTIONS_H

#include <Core/Thread/Interruptible.h>
#include <Dataflow/Network/Module.h>
#include <Modules/Legacy/Teem/HotFiber/share.h>

namespace SCIRun {
namespace Core {
namespace Algorithms {
namespace Teem {

  ALGORITHM_PARAMETER_DECL(HotFiberOrder);
  ALGORITHM_PARAMETER_DECL(HotFiberMaxFibers);
  ALGORITHM_PARAMETER_DECL(HotFiberMethod);

}}}

namespace Modules {
namespace Teem {

  class SCISHARE FindFiberDirections : public Dataflow::Networks::Module,
    public Has1InputPort<NrrdPortTag>,
    public Has4OutputPorts<NrrdPortTag, NrrdPortTag, NrrdPortTag, NrrdPortTag>,
    public Core::Thread::Interruptible
  {
  public:
    FindFiberDirections();
    void execute() override;
    void setStateDefaults() override;

    INPUT_PORT(0, DWI, NrrdDataType);
    OUTPUT_PORT(0, Fiber1, NrrdDataType);
    OUTPUT_PORT(1, Fiber2, NrrdDataType);
    OUTPUT_PORT(2, Fiber3, NrrdDataType);
    OUTPUT_PORT(3, Tensors, NrrdDataType);

    MODULE_TRAITS_AND_INFO(ModuleFlags::NoAlgoOrUI)
  };

}}}

#endif
