// What check_weak_symbols.py must find: an inline function that a level's archive shares with any
// other code that brings the same one.

namespace p2p {

__attribute__((noinline)) inline int shared_by_accident(int value) {
    return value + 1;
}

int use_shared(int value);

int use_shared(int value) {
    return shared_by_accident(value);
}

}  // namespace p2p
