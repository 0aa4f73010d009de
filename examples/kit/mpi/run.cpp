// The world that MPI makes. The only file that knows MPI; without it (XGRAD_MPI) programs run alone.
#include <xgrad/kit/mpi/run.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <thread>

#ifdef XGRAD_MPI
#define OMPI_SKIP_MPICXX 1  // the interface of C
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <sched.h>
#endif

#include <xgrad/core/base/error.h>
#include <xgrad/core/runtime/parallel.h>

namespace xgrad::mpi::detail {
namespace {

#ifdef XGRAD_MPI

void check(const char* function, int status) {
  if (status == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int size = 0;
  MPI_Error_string(status, text.data(), &size);
  fail<Error>(function, text.substr(0, static_cast<std::size_t>(size)));
}

int count_of(const char* function, std::size_t size) {
  if (size > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    fail<LimitError>(function, size, " bytes or numbers at once");
  }
  return static_cast<int>(size);
}

class MpiWorld : public World {
 public:
  MpiWorld(int rank, int ranks) : World(rank, ranks), ended_(static_cast<std::size_t>(ranks), all) {
    MPI_Comm_dup(MPI_COMM_WORLD, &ends_);
  }

  std::vector<std::string> gather(const std::string& text) override {
    const auto n = static_cast<std::size_t>(ranks());
    int size = count_of("gather", text.size());
    std::vector<int> sizes(n), begins(n);
    finish("MPI_Iallgather", [&](MPI_Request* request) {
      return MPI_Iallgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD, request);
    });
    std::size_t total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      begins[i] = count_of("gather", total);
      total += static_cast<std::size_t>(sizes[i]);
    }
    count_of("gather", total);
    std::string bytes(total, '\0');
    finish("MPI_Iallgatherv", [&](MPI_Request* request) {
      return MPI_Iallgatherv(text.data(), size, MPI_CHAR, bytes.data(), sizes.data(), begins.data(), MPI_CHAR,
                             MPI_COMM_WORLD, request);
    });
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < n; ++i) {
      texts.push_back(bytes.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(sizes[i])));
    }
    return texts;
  }

  void broadcast(std::span<std::byte> bytes, int from) override {
    constexpr std::size_t most = 1 << 30;
    for (std::size_t begin = 0; begin < bytes.size(); begin += most) {
      const std::span<std::byte> part = bytes.subspan(begin, std::min(most, bytes.size() - begin));
      finish("MPI_Ibcast", [&](MPI_Request* request) {
        return MPI_Ibcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, from, MPI_COMM_WORLD, request);
      });
    }
  }

  std::unique_ptr<Pending> start_sum(std::span<Real> numbers) override {
    auto pending = std::make_unique<Request>(*this);
    check("MPI_Iallreduce", MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), count_of("start_sum", numbers.size()),
                                           sizeof(Real) == sizeof(float) ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM,
                                           MPI_COMM_WORLD, &pending->request));
    return pending;
  }

  // Says to the other ranks that this one has returned, and waits until they have. One that returns a status has said
  // why, and ends those that go on.
  void end(int status) {
    const std::int64_t made = status == 0 ? made_ : all;
    std::vector<MPI_Request> sent(ended_.size(), MPI_REQUEST_NULL);
    for (int to = 0; to < ranks(); ++to) {
      if (to != rank()) MPI_Isend(&made, 1, MPI_INT64_T, to, 0, ends_, &sent[static_cast<std::size_t>(to)]);
    }
    const auto begin = Clock::now();
    while (heard_ < ranks() - 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      listen(made_);
      if (status != 0 && Clock::now() - begin > std::chrono::seconds(5)) MPI_Abort(MPI_COMM_WORLD, status);
    }
    MPI_Waitall(ranks(), sent.data(), MPI_STATUSES_IGNORE);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

  // One call of MPI that all ranks make. Each rank counts them.
  struct Request : Pending {
    explicit Request(MpiWorld& of) : world(of), number(++of.made_) {}
    ~Request() override {
      int finished = 0;
      while (MPI_Test(&request, &finished, MPI_STATUS_IGNORE) == MPI_SUCCESS && finished == 0) world.look(number);
    }
    bool done() override {
      int finished = 0;
      check("MPI_Test", MPI_Test(&request, &finished, MPI_STATUS_IGNORE));
      if (finished == 0) world.look(number);
      return finished != 0;
    }

    MpiWorld& world;
    const std::int64_t number;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  template <class Start>
  void finish(const char* function, const Start& start) {
    Request made(*this);
    check(function, start(&made.request));
    while (!made.done()) std::this_thread::yield();
  }

  // listen(), but at most once in a millisecond.
  void look(std::int64_t number) {
    const auto now = Clock::now();
    if (now - looked_ < std::chrono::milliseconds(1)) return;
    looked_ = now;
    listen(number);
  }

  // Receives which ranks have returned. One that has without exchange `number` never makes it: this ends all ranks.
  void listen(std::int64_t number) {
    MPI_Status status;
    for (int found = 0; MPI_Iprobe(MPI_ANY_SOURCE, 0, ends_, &found, &status), found != 0; ++heard_) {
      std::int64_t& made = ended_[static_cast<std::size_t>(status.MPI_SOURCE)];
      MPI_Recv(&made, 1, MPI_INT64_T, status.MPI_SOURCE, 0, ends_, MPI_STATUS_IGNORE);
    }
    const auto least = std::ranges::min_element(ended_);
    if (*least >= number) return;
    end_all(*this, str("rank ", least - ended_.begin(), " has returned after ", *least, " exchanges, and rank ", rank(),
                       " is in exchange ", number, ": all ranks must make the same steps"));
  }

  MPI_Comm ends_ = MPI_COMM_NULL;    // for what follows alone
  std::vector<std::int64_t> ended_;  // how many exchanges a rank has made that has returned
  int heard_ = 0;                    // of so many
  std::int64_t made_ = 0;
  Clock::time_point looked_;
};

// Ranks of one machine that may use the same processors, with this one.
int sharing(World& world) {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int size = 0;
  MPI_Get_processor_name(name, &size);
  std::string text(name, static_cast<std::size_t>(size));
#ifdef __linux__
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  text.append(reinterpret_cast<const char*>(&mine), sizeof mine);
#endif
  const std::vector<std::string> all = world.gather(text);
  return static_cast<int>(std::ranges::count(all, text));
}

#endif

}  // namespace

#ifdef XGRAD_MPI

void end_all(const World& world, std::string_view reason) {
  std::cerr << str("rank ", world.rank(), ": ", reason, "\n") << std::flush;
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

int run(int argc, char** argv, const std::function<int(World&)>& program) {
  int provided = 0, rank = 0, ranks = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MpiWorld world(rank, ranks);
  int status = 0;
  try {
    const char* asked = std::getenv("XGRAD_THREADS");
    const int together = sharing(world);
    if (together > 1 && (!asked || !*asked)) set_threads(std::max(1, threads() / together));
    status = program(world);
  } catch (...) {
    end_all(world, reason_of_current());
  }
  world.end(status);
  MPI_Finalize();
  return status;
}

#else

void end_all(const World&, std::string_view reason) {
  std::cerr << "error: " << reason << "\n" << std::flush;
  std::_Exit(1);
}

int run(int, char**, const std::function<int(World&)>& program) {
  World alone;
  try {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
      if (std::getenv(name) == nullptr) continue;
      fail<Error>("mpi", "built without MPI: install libopenmpi-dev and openmpi-bin, then build again");
    }
    return program(alone);
  } catch (...) {
    end_all(alone, reason_of_current());
  }
}

#endif

std::string reason_of_current() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown error";
  }
}

}  // namespace xgrad::mpi::detail
