#pragma once

// The last N of something; the oldest falls out.
// For histories that people look at and that must not grow.

#include <cstddef>
#include <deque>
#include <utility>

#include "core/base/check.hpp"

namespace p2p::core {

template <typename T>
class Ring {
  public:
    /// @pre capacity > 0
    explicit Ring(std::size_t capacity)
        : capacity_(capacity) {
        P2P_CHECK(capacity > 0);
    }

    void push(T item) {
        if (items_.size() == capacity_) items_.pop_front();
        items_.push_back(std::move(item));
    }

    [[nodiscard]] std::size_t size() const { return items_.size(); }

    [[nodiscard]] bool empty() const { return items_.empty(); }

    [[nodiscard]] auto begin() const { return items_.begin(); }

    [[nodiscard]] auto end() const { return items_.end(); }

    [[nodiscard]] const T& back() const { return items_.back(); }

  private:
    std::size_t capacity_;
    std::deque<T> items_;
};

}  // namespace p2p::core
