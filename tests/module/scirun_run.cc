// Runs the SCIRun adapter, compiled against the stub: scirun_run DWI.nrrd OUT-PREFIX [MAX_FIBERS METHOD [stop]]. Exit
// status 0 when it sent four fields, 1 when it said why not. stop: as SCIRun's button, at the third progress report.
#include <Modules/Legacy/Teem/HotFiber/FindFiberDirections.h>
#include <Core/Datatypes/Legacy/Nrrd/NrrdData.h>

#include <cstdio>
#include <cstdlib>

using namespace SCIRun;

int main(int argc, char** argv)
{
  if (argc < 3)
    return 2;
  Nrrd* nrrd = nrrdNew();
  if (nrrdLoad(nrrd, argv[1], nullptr))
    return 2;
  Modules::Teem::FindFiberDirections module;
  module.setStateDefaults();
  if (argc > 4)
  {
    module.get_state()->setValue("HotFiberMaxFibers", std::atoi(argv[3]));
    module.get_state()->setValue("HotFiberMethod", std::string(argv[4]));
  }
  double last = 0;
  int calls = 0, guarded = 0;
  module.updater_ = [&](double fraction) {
    if (++calls == 3 && argc > 5)
      module.stop();
    guarded += NrrdGuardCount::now();
    last = fraction;
  };
  module.inputs_[0] = NrrdDataHandle(new NrrdData(nrrd));

  module.need_ = false;
  module.execute();
  if (calls || !module.sent_.empty())
    return std::printf("it runs when nothing has changed\n"), 3;
  module.need_ = true;
  module.execute();
  for (const std::string& text : module.said_)
    std::printf("%s\n", text.c_str());
  if (module.info_.module_name_ != "FindFiberDirections" || module.info_.package_name_ != "Teem")
    return std::printf("another name than that of its .module file\n"), 3;
  if (NrrdGuardCount::now() != 0 || NrrdGuardCount::ever() == 0 || guarded)
    return std::printf("guards: %d stand, %d stood, %d while hotfiber ran\n", NrrdGuardCount::now(),
                       NrrdGuardCount::ever(), guarded), 3;
  if (module.sent_.empty())
    return 1;
  if (module.sent_.size() != 4 || calls < 5 || !(last <= 1))
    return std::printf("%d outputs, %d calls\n", static_cast<int>(module.sent_.size()), calls), 3;
  for (int fiber = 0; fiber < 4; fiber++)
  {
    char name[256];
    std::snprintf(name, sizeof name, "%s_%d.nrrd", argv[2], fiber + 1);
    if (nrrdSave(name, module.sent_[fiber]->getNrrd(), nullptr))
      return 3;
  }
  return 0;
}
