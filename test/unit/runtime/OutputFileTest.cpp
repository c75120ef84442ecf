//===- OutputFileTest.cpp - what is written is whole, or nothing happened ------===//
#include "executable/OutputFile.h"
#include "executable/TemporaryOutput.h"
#include "runtime/files/AppendFile.h"
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace hybrid;
namespace fs = std::filesystem;

namespace {

class OutputFileTest : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "hybrid-output-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string path(const std::string &name) const { return folder + "/" + name; }
  void put(const std::string &name, const std::string &text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(const std::string &name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
  std::string folder;
};

} // namespace

TEST_F(OutputFileTest, ReplacesAWholeFileAndKeepsItsPermissions) {
  put("a", "old");
  fs::permissions(path("a"), fs::perms(0640));
  {
    OutputFile file(path("a"));
    file.write("new");
    EXPECT_EQ(read("a"), "old");
    EXPECT_EQ(file.commit(), "");
  }
  EXPECT_EQ(read("a"), "new");
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms(0640));
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, LeavesTheOldFileWhenNotCommitted) {
  put("a", "old");
  {
    OutputFile(path("a")).write("half");
  }
  EXPECT_EQ(read("a"), "old");
  EXPECT_EQ(files(), 1u);
}

// A limit on sizes of files is a full disk that a test can have.
TEST_F(OutputFileTest, AFullDiskLeavesTheOldFile) {
  put("a", "old");
  auto writeTooMuch = [&] {
    letFullFilesBeErrors();
    rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string error = writeOutputFile(path("a"), std::string(5000, 'x'));
    std::fprintf(stderr, "%s", error.c_str());
    std::_Exit(error.empty() ? 0 : 3);
  };
  EXPECT_EXIT(writeTooMuch(), testing::ExitedWithCode(3), "cannot write '.*/a': File too large");
  EXPECT_EQ(read("a"), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, WritesThroughPipesAndDevices) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read("pipe"); });
  EXPECT_EQ(writeOutputFile(path("pipe"), "text"), "");
  reader.join();
  EXPECT_EQ(got, "text");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  fs::create_symlink("/dev/full", path("full"));
  EXPECT_EQ(writeOutputFile(path("full"), "text"),
            "cannot write '" + path("full") + "': No space left on device");
  EXPECT_TRUE(fs::is_symlink(path("full")));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(OutputFileTest, SymbolicLinksStayAndTheirTargetIsReplaced) {
  fs::create_directory(path("inner"));
  put("inner/a", "old");
  fs::create_symlink("inner/a", path("link"));
  fs::create_symlink("link", path("second"));
  fs::create_symlink("inner/b", path("dangling"));
  EXPECT_EQ(writeOutputFile(path("second"), "new"), "");
  EXPECT_EQ(writeOutputFile(path("dangling"), "made"), "");
  EXPECT_EQ(read("inner/a"), "new");
  EXPECT_EQ(read("inner/b"), "made");
  EXPECT_TRUE(fs::is_symlink(path("second")) && fs::is_symlink(path("link")));
  fs::create_symlink("circle", path("circle"));
  EXPECT_NE(writeOutputFile(path("circle"), "x"), "");
}

TEST_F(OutputFileTest, StandardOutputByItsNameIsAppendedTo) {
  int file = open(path("a").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ASSERT_EQ(write(file, "one", 3), 3);
  EXPECT_EQ(writeOutputFile("/dev/fd/" + std::to_string(file), "two"), "");
  close(file);
  EXPECT_EQ(read("a"), "onetwo");
}

TEST_F(OutputFileTest, RemovesWhatDeadWritersLeft) {
  put("a.hybrid-tmp-a1b2c3", "of a dead process");
  put("b.hybrid-tmp-d4e5f6", "of a living one");
  put("mine.hybrid-tmp-", "of somebody else");
  int living = open(path("b.hybrid-tmp-d4e5f6").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(living, LOCK_EX), 0);
  EXPECT_EQ(writeOutputFile(path("c"), "x"), "");
  EXPECT_FALSE(fs::exists(path("a.hybrid-tmp-a1b2c3")));
  EXPECT_TRUE(fs::exists(path("b.hybrid-tmp-d4e5f6")));
  EXPECT_TRUE(fs::exists(path("mine.hybrid-tmp-")));
  close(living);
}

TEST_F(OutputFileTest, NamesWhatCannotBeWritten) {
  EXPECT_EQ(writeOutputFile(folder, "x"), "cannot write '" + folder + "': Is a directory");
  EXPECT_EQ(writeOutputFile(path("no/a"), "x"),
            "cannot write '" + path("no/a") + "': No such file or directory");
}

TEST_F(OutputFileTest, TheFirstSecretCountsAndIsForOneUserAlone) {
  EXPECT_EQ(writeOutputFile(path("key"), "first", OutputFile::Kind::Secret), "");
  EXPECT_EQ(writeOutputFile(path("key"), "second", OutputFile::Kind::Secret), "");
  EXPECT_EQ(read("key"), "first");
  EXPECT_EQ(fs::status(path("key")).permissions(), fs::perms(0600));
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, AFolderIsThereWholeOrNotAtAll) {
  {
    TemporaryFolder half(path("a"));
    ASSERT_EQ(half.error(), "");
    EXPECT_EQ(writeOutputFile(half.path() + "/x", "1"), "");
    EXPECT_FALSE(fs::exists(path("a")));
    removeAbandonedOutput(folder); // its writer lives
    EXPECT_TRUE(fs::exists(half.path()));
  }
  EXPECT_EQ(files(), 0u);
  {
    TemporaryFolder whole(path("a"));
    EXPECT_EQ(writeOutputFile(whole.path() + "/x", "1"), "");
    EXPECT_EQ(whole.commit(), "");
  }
  EXPECT_EQ(read("a/x"), "1");
  TemporaryFolder second(path("a"));
  EXPECT_EQ(second.commit(), "cannot make the folder '" + path("a") + "': Directory not empty");
  EXPECT_EQ(read("a/x"), "1");
  TemporaryFolder nowhere(path("no/b"));
  EXPECT_EQ(nowhere.error(),
            "cannot make the folder '" + path("no/b") + "': No such file or directory");
}

TEST_F(OutputFileTest, RemovesFoldersOfDeadWriters) {
  fs::create_directories(path("a.hybrid-tmp-a1b2c3/inner"));
  put("a.hybrid-tmp-a1b2c3/inner/x", "left");
  removeAbandonedOutput(folder);
  EXPECT_EQ(files(), 0u);
}

TEST_F(OutputFileTest, RecordsAreAppendedWhole) {
  {
    auto file = rt::AppendFile::open(path("log"));
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->append("one\n"));
    EXPECT_TRUE(file->append("two\n"));
  }
  auto file = rt::AppendFile::open(path("log"));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->cut(4));
  EXPECT_TRUE(file->append("three\n"));
  EXPECT_TRUE(file->sync());
  EXPECT_EQ(read("log"), "one\nthree\n");
  auto writeTooMuch = [&] {
    letFullFilesBeErrors();
    rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto done = file->append(std::string(5000, 'x'));
    std::fprintf(stderr, "%s", done ? "" : done.error().message.c_str());
    std::_Exit(done ? 0 : 3);
  };
  EXPECT_EXIT(writeTooMuch(), testing::ExitedWithCode(3), "cannot write '.*/log': File too large");
  EXPECT_EQ(read("log"), "one\nthree\n");
}
