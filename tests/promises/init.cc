// An options struct as C++ makes it, for test_rules.c.
#include <cstring>

#include <hotfiber/hotfiber.h>

extern "C" size_t hot_promised_init_in_cxx(unsigned char *bytes)
{
    const hot_fit_options options = HOT_FIT_OPTIONS_INIT;
    static_assert(HOT_ZERO == static_cast<int>(static_cast<float>(HOT_ZERO)), "exact as a float");
    std::memcpy(bytes, &options, sizeof options);
    return sizeof options;
}
