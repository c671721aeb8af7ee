// As every module folder of SCIRun has it: what is exported from the library that CMakeLists.txt makes.
#undef SCISHARE

#if defined(_WIN32) && !defined(BUILD_CORE_STATIC)
#ifdef BUILD_Modules_Legacy_Teem_HotFiber
#define SCISHARE __declspec(dllexport)
#else
#define SCISHARE __declspec(dllimport)
#endif
#else
#define SCISHARE
#endif
