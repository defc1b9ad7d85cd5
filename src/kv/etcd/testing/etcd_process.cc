#include "kv/etcd/testing/etcd_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

namespace keelson::kv::testing {
namespace {

constexpr auto kStartWithin = std::chrono::seconds(20);

bool IsProgram(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

// Whether the server at the port says over HTTP/1 that it is healthy.
bool Serves(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string heard;
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    constexpr std::string_view kAsk = "GET /health HTTP/1.0\r\n\r\n";
    (void)!::write(fd, kAsk.data(), kAsk.size());
    char bytes[1024];
    for (ssize_t size; (size = ::read(fd, bytes, sizeof bytes)) > 0;) heard.append(bytes, size);
  }
  ::close(fd);
  return heard.find("\"health\":\"true\"") != std::string::npos;
}

}  // namespace

uint16_t FreePort() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  KEELSON_CHECK(::bind(fd, any, size) == 0 && ::getsockname(fd, any, &size) == 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

std::vector<std::string> EtcdPrograms() {
  std::vector<std::string> programs;
  auto add = [&](const std::string& path) {
    if (IsProgram(path)) programs.push_back(path);
    return IsProgram(path);
  };
  if (const char* named = std::getenv("ETCD_BIN"); named != nullptr) {
    add(named);
  } else if (const char* path = std::getenv("PATH"); path != nullptr) {
    std::istringstream folders{std::string(path)};
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (add(folder + "/etcd")) break;
    }
  }
  if (const char* peer = std::getenv("PEER_BIN"); peer != nullptr) {
    add(std::string(peer) + "/etcd");
  }
  return programs;
}

Result<std::unique_ptr<EtcdProcess>> EtcdProcess::Make(const std::string& program) {
  std::unique_ptr<EtcdProcess> self(new EtcdProcess);
  self->program_ = program;
  auto folder = (std::filesystem::temp_directory_path() / "keelson-etcd-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return FailErrno(errno, "creating a folder");
  self->folder_ = folder;
  self->port_ = FreePort();
  self->url_ = fmt::format("http://127.0.0.1:{}", self->port_);
  return self;
}

Result<std::unique_ptr<EtcdProcess>> EtcdProcess::Start(const std::string& program,
                                                        std::vector<std::string> arguments) {
  TRY(auto self, Make(program));
  self->arguments_ = std::move(arguments);
  const auto peer = fmt::format("http://127.0.0.1:{}", FreePort());
  self->place_ = {"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
                  "--initial-cluster=default=" + peer};
  TRY_VOID(self->Launch());
  return self;
}

Result<std::vector<std::unique_ptr<EtcdProcess>>> EtcdProcess::StartCluster(
    const std::string& program, const std::vector<Member>& members) {
  std::string cluster;
  for (const auto& member : members) {
    cluster += fmt::format("{}{}=http://127.0.0.1:{}", cluster.empty() ? "" : ",", member.name,
                           member.relay_port);
  }
  std::vector<std::unique_ptr<EtcdProcess>> all;
  for (const auto& member : members) {
    TRY(auto self, Make(program));
    self->place_ = {
        "--name=" + member.name,
        fmt::format("--listen-peer-urls=http://127.0.0.1:{}", member.peer_port),
        fmt::format("--initial-advertise-peer-urls=http://127.0.0.1:{}", member.relay_port),
        "--initial-cluster=" + cluster};
    self->Spawn();
    all.push_back(std::move(self));
  }
  for (auto& member : all) TRY_VOID(member->AwaitServing());
  return all;
}

Result<void> EtcdProcess::Launch() {
  Spawn();
  return AwaitServing();
}

void EtcdProcess::Spawn() {
  std::vector<std::string> words = {program_, "--data-dir=" + folder_ + "/data",
                                    "--listen-client-urls=" + url_,
                                    "--advertise-client-urls=" + url_, "--log-level=error"};
  words.insert(words.end(), place_.begin(), place_.end());
  words.insert(words.end(), arguments_.begin(), arguments_.end());
  std::vector<char*> raw;
  for (auto& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  const std::string log = folder_ + "/log";
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    int out = ::open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    ::dup2(out, 1);
    ::dup2(out, 2);
    ::execv(raw[0], raw.data());
    ::_exit(127);
  }
}

Result<void> EtcdProcess::AwaitServing() {
  const auto limit = std::chrono::steady_clock::now() + kStartWithin;
  while (!Serves(port_)) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_ || std::chrono::steady_clock::now() > limit) {
      return Fail(ErrorCode::kUnavailable, "{} does not start; see {}/log", program_, folder_);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {};
}

void EtcdProcess::Kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

Result<void> EtcdProcess::Restart() {
  Kill();
  return Launch();
}

void EtcdProcess::Pause(bool paused) { ::kill(pid_, paused ? SIGSTOP : SIGCONT); }

EtcdProcess::~EtcdProcess() {
  Kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace keelson::kv::testing
