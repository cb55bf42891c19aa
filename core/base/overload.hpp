#pragma once

// Several lambdas as one visitor of a variant.
// What is visited, and which cases there are, is the callers'.

namespace p2p::core {

template <class... Acts>
struct Overload : Acts... {
    using Acts::operator()...;
};
template <class... Acts>
Overload(Acts...) -> Overload<Acts...>;

}  // namespace p2p::core
