//===- MpiTransport.cpp - bytes between ranks over MPI ------------------------===//
//
// A library of its own, libhybrid-mpi.so: opened by processes that mpirun or srun started, so that
// the programs link no MPI, and one build has one MPI's binary interface in this file alone. It
// asks of MPI what every version has: messages to and from each rank.
//
//===----------------------------------------------------------------------===//
#include "runtime/ranks/Transport.h"
#include <algorithm>
#include <chrono>
#include <climits>
#include <mpi.h>
#include <thread>

namespace hybrid::rt {
namespace {

std::string textOf(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<size_t>(length)};
}

class MpiTransport final : public Transport {
public:
  MpiTransport() {
    MPI_Comm_rank(MPI_COMM_WORLD, &place);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
  }
  ~MpiTransport() override { MPI_Finalize(); }
  int rank() const override { return place; }
  int size() const override { return count; }
  void abandon() override { MPI_Abort(MPI_COMM_WORLD, 1); }

protected:
  Result<void> pass(std::span<const std::span<const std::byte>> send,
                    std::span<const std::span<std::byte>> receive) override {
    requests.clear();
    // Those behind come first, so that not all ranks send to the same one.
    for (int distance = 1; distance < count; ++distance) {
      const int from = (place - distance + count) % count;
      for (Piece piece(receive[static_cast<size_t>(from)].size()); piece.next();)
        if (int code = MPI_Irecv(receive[static_cast<size_t>(from)].data() + piece.at, piece.bytes,
                                 MPI_BYTE, from, 0, MPI_COMM_WORLD, &requests.emplace_back());
            code != MPI_SUCCESS)
          return Error{"MPI_Irecv: " + textOf(code)};
    }
    for (int distance = 1; distance < count; ++distance) {
      const int to = (place + distance) % count;
      for (Piece piece(send[static_cast<size_t>(to)].size()); piece.next();)
        if (int code = MPI_Isend(send[static_cast<size_t>(to)].data() + piece.at, piece.bytes,
                                 MPI_BYTE, to, 0, MPI_COMM_WORLD, &requests.emplace_back());
            code != MPI_SUCCESS)
          return Error{"MPI_Isend: " + textOf(code)};
    }
    return finish();
  }

private:
  /// Parts of a message that MPI can count.
  struct Piece {
    explicit Piece(size_t size) : left(size) {}
    bool next() {
      at += static_cast<size_t>(bytes);
      bytes = static_cast<int>(std::min<size_t>(left, size_t{1} << 30));
      left -= static_cast<size_t>(bytes);
      return bytes > 0;
    }
    size_t left, at = 0;
    int bytes = 0;
  };

  /// MPI waits by asking again and again, which takes a core from those who compute: so after some
  /// time this one sleeps between.
  Result<void> finish() {
    for (int asked = 0;; ++asked) {
      int done = 0;
      if (int code = MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done,
                                 MPI_STATUSES_IGNORE);
          code != MPI_SUCCESS)
        return Error{"MPI_Testall: " + textOf(code)};
      if (done)
        return {};
      if (asked > 200)
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      else
        std::this_thread::yield();
    }
  }

  int place = 0, count = 1;
  std::vector<MPI_Request> requests;
};

} // namespace
} // namespace hybrid::rt

/// Null with a reason where MPI does not start.
extern "C" hybrid::rt::Transport *hybridOpenMpi(std::string *why) {
  int given = 0;
  if (int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given);
      code != MPI_SUCCESS) {
    *why = hybrid::rt::textOf(code);
    return nullptr;
  }
  if (given < MPI_THREAD_SERIALIZED) {
    *why = "this MPI allows calls from one thread only";
    MPI_Finalize();
    return nullptr;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return new hybrid::rt::MpiTransport();
}
