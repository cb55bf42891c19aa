#pragma once

// A value, or the error that stands in its place; by value, never thrown.
// For what others may get wrong; our own mistakes are P2P_CHECK's (check.hpp).

#include <optional>
#include <utility>
#include <variant>

#include "core/base/check.hpp"
#include "core/base/error.hpp"

namespace p2p::core {

template <typename T>
class [[nodiscard]] Result {
  public:
    // NOLINTNEXTLINE(google-explicit-constructor): `return value;` is the point
    Result(T value)
        : state_(std::in_place_index<0>, std::move(value)) {}

    // NOLINTNEXTLINE(google-explicit-constructor): `return Error{...};` is the point
    Result(Error error)
        : state_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool has_value() const { return state_.index() == 0; }

    explicit operator bool() const { return has_value(); }

    /// @pre has_value()
    [[nodiscard]] T& value() & {
        P2P_CHECK(has_value());
        return std::get<0>(state_);
    }

    [[nodiscard]] const T& value() const& {
        P2P_CHECK(has_value());
        return std::get<0>(state_);
    }

    [[nodiscard]] T&& value() && {
        P2P_CHECK(has_value());
        return std::get<0>(std::move(state_));
    }

    T& operator*() & { return value(); }

    const T& operator*() const& { return value(); }

    T&& operator*() && { return std::move(*this).value(); }

    T* operator->() { return &value(); }

    const T* operator->() const { return &value(); }

    /// @pre !has_value()
    [[nodiscard]] const Error& error() const {
        P2P_CHECK(!has_value());
        return std::get<1>(state_);
    }

  private:
    std::variant<T, Error> state_;
};

/// Done, or why not.
class [[nodiscard]] Status {
  public:
    Status() = default;

    // NOLINTNEXTLINE(google-explicit-constructor): `return Error{...};` is the point
    Status(Error error)
        : error_(std::move(error)) {}

    [[nodiscard]] bool is_ok() const { return !error_.has_value(); }

    explicit operator bool() const { return is_ok(); }

    /// @pre !is_ok()
    [[nodiscard]] const Error& error() const {
        P2P_CHECK(error_.has_value());
        return *error_;
    }

  private:
    std::optional<Error> error_;
};

}  // namespace p2p::core
