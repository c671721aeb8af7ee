// A STUB, for our tests only: see Dataflow/Network/Module.h.
#ifndef HOT_TESTS_SCIRUN_STUB_INTERRUPTIBLE_H
#define HOT_TESTS_SCIRUN_STUB_INTERRUPTIBLE_H

#include <atomic>

namespace SCIRun { namespace Core { namespace Thread {

class Interruptible
{
public:
  void stop() { stopped_ = true; }
  void reset() { stopped_ = false; }
  bool stopRequested() const { return stopped_; }

private:
  std::atomic<bool> stopped_{false};
};

}}}

#endif
