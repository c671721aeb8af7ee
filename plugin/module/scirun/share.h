// Export macro of the library, as in every module folder of SCIRun.
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
