// A STUB, for our tests only: see Dataflow/Network/Module.h.
#ifndef HOT_TESTS_SCIRUN_STUB_NRRDDATA_H
#define HOT_TESTS_SCIRUN_STUB_NRRDDATA_H

#include <teem/nrrd.h>

namespace SCIRun {

class NrrdData
{
public:
  explicit NrrdData(Nrrd* nrrd) : nrrd_(nrrd) {}
  ~NrrdData() { nrrdNuke(nrrd_); }
  Nrrd*& getNrrd() { return nrrd_; }

private:
  NrrdData(const NrrdData&);
  Nrrd* nrrd_;
};

// How many guards stand now, and have stood.
struct NrrdGuardCount
{
  static int& now() { static int count = 0; return count; }
  static int& ever() { static int count = 0; return count; }
};

class NrrdGuard
{
public:
  NrrdGuard() { NrrdGuardCount::now()++; NrrdGuardCount::ever()++; }
  ~NrrdGuard() { NrrdGuardCount::now()--; }
};

}

#endif
