// The mutexes that fork() takes.
#include "fork.h"

#include <pthread.h>

namespace xgrad::detail {

WholeAtFork::WholeAtFork(std::mutex& (*mutex)(), Order order) : mutex_(mutex), order_(order) {
  if (!first_) pthread_atfork(lock, unlock, unlock);
  WholeAtFork** place = &first_;
  while (*place && (*place)->order_ <= order) place = &(*place)->next_;
  next_ = *place;
  *place = this;
}

void WholeAtFork::lock() {
  for (const WholeAtFork* each = first_; each; each = each->next_) each->mutex_().lock();
}

void WholeAtFork::unlock() {
  for (const WholeAtFork* each = first_; each; each = each->next_) each->mutex_().unlock();
}

}  // namespace xgrad::detail
