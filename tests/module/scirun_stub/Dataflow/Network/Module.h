// A STUB, for our tests only: as much of SCIRun 5's module interface as the adapter touches, written from its
// documented names. No part of SCIRun. The test can read the module's inputs, messages and outputs.
#ifndef HOT_TESTS_SCIRUN_STUB_MODULE_H
#define HOT_TESTS_SCIRUN_STUB_MODULE_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace SCIRun {

class NrrdData;
typedef NrrdData NrrdDataType;
typedef std::shared_ptr<NrrdData> NrrdDataHandle;

namespace Core { namespace Algorithms {

struct Variable
{
  int number;
  std::string text;
  int toInt() const { return number; }
  std::string toString() const { return text; }
};

}}

#define ALGORITHM_PARAMETER_DECL(name) namespace Parameters { extern const std::string name; }
#define ALGORITHM_PARAMETER_DEF(package, name) \
  namespace SCIRun { namespace Core { namespace Algorithms { namespace package { namespace Parameters { \
  const std::string name(#name); }}}}}

namespace Dataflow { namespace Networks {

struct ModuleLookupInfo
{
  ModuleLookupInfo(const char* module, const char* category, const char* package)
    : module_name_(module), category_name_(category), package_name_(package) {}
  std::string module_name_, category_name_, package_name_;
};

struct ModuleState
{
  std::map<std::string, Core::Algorithms::Variable> values;
  void setValue(const std::string& name, int number) { values[name] = {number, ""}; }
  void setValue(const std::string& name, const std::string& text) { values[name] = {0, text}; }
  const Core::Algorithms::Variable& getValue(const std::string& name) const { return values.at(name); }
};

struct Port
{
  int number;
  bool initialized;
};

class Module
{
public:
  explicit Module(const ModuleLookupInfo& info) : info_(info), state_(new ModuleState) {}
  virtual ~Module() {}
  virtual void execute() = 0;
  virtual void setStateDefaults() = 0;
  std::shared_ptr<ModuleState> get_state() { return state_; }
  virtual void error(const std::string& text) const { said_.push_back("error: " + text); }
  virtual void warning(const std::string& text) const { said_.push_back("warning: " + text); }
  virtual void remark(const std::string& text) const { said_.push_back("remark: " + text); }
  std::function<void(double)> getUpdaterFunc() const { return updater_; }

  const ModuleLookupInfo& info_;
  mutable std::vector<std::string> said_;
  std::map<int, NrrdDataHandle> inputs_, sent_;
  std::function<void(double)> updater_;
  bool need_ = true;

protected:
  bool needToExecute() const { return need_; }
  NrrdDataHandle getRequiredInput(const Port& port)
  {
    if (!port.initialized || !inputs_[port.number])
      throw std::string("a required input is missing");
    return inputs_[port.number];
  }
  void sendOutput(const Port& port, NrrdDataHandle data)
  {
    if (!port.initialized)
      throw std::string("a port was not initialized");
    sent_[port.number] = data;
  }

private:
  std::shared_ptr<ModuleState> state_;
};

}}

namespace Modules {

struct NrrdPortTag {};
template <class A> class Has1InputPort {};
template <class A, class B, class C, class D> class Has4OutputPorts {};
enum class ModuleFlags { NoAlgoOrUI = 0 };

}

#define INPUT_PORT(number, name, type) Dataflow::Networks::Port name = {number, false};
#define OUTPUT_PORT(number, name, type) Dataflow::Networks::Port name = {number, false};
#define INITIALIZE_PORT(name) name.initialized = true
#define MODULE_TRAITS_AND_INFO(flags) \
  public: static const int TraitFlags = static_cast<int>(flags); \
  static const Dataflow::Networks::ModuleLookupInfo staticInfo_;
#define MODULE_INFO_DEF(name, category, package) \
  const SCIRun::Dataflow::Networks::ModuleLookupInfo name::staticInfo_(#name, #category, #package);

}

#endif
