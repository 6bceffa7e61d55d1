// What libtorch 2.14's headers call where a number does not fit its type, and libtorch 2.15 does not have: a program for
// the one runs on the other too. It says the same.
#include <stdexcept>
#include <string>

namespace c10 {
[[noreturn]] __attribute__((weak)) void report_overflow(const char *type) {
  throw std::runtime_error(std::string("value cannot be converted to type ") + type + " without overflow");
}
} // namespace c10
