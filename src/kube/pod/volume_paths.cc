#include "kube/pod/volume_paths.h"

#include <fmt/format.h>

#include <string_view>

#include "base/quote.h"

namespace keelson::kube::pod {
namespace {

namespace core = api::core_v1;
using schema::ListView;

// Comparing is quadratic; a volume of more files is not looked at.
constexpr size_t kMaxFiles = 512;

struct File {
  std::string_view path;
  std::string source;  // where it comes from, when a volume has several

  std::string Show() const {
    return source.empty() ? Quote(path) : fmt::format("{} ({})", Quote(path), source);
  }
};

bool Contains(std::string_view directory, std::string_view path) {
  return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

class VolumeFiles {
 public:
  VolumeFiles(std::string_view volume, std::string what, std::vector<std::string>& warnings)
      : volume_(volume), what_(std::move(what)), warnings_(warnings) {}

  void Add(std::string_view path, std::string source = {}) {
    while (path.ends_with('/')) path.remove_suffix(1);
    if (files_.size() >= kMaxFiles) return;
    File file{path, std::move(source)};
    for (const File& other : files_) {
      if (path.empty() || other.path.empty()) continue;
      if (!Contains(path, other.path) && !Contains(other.path, path)) continue;
      warnings_.push_back(fmt::format("volume {} ({}): overlapping paths: {} with {}",
                                      Quote(volume_), what_, file.Show(), other.Show()));
    }
    files_.push_back(std::move(file));
  }

 private:
  std::string_view volume_;
  std::string what_;
  std::vector<std::string>& warnings_;
  std::vector<File> files_;
};

template <typename Item>
void AddItems(VolumeFiles& files, ListView<Item> items, const std::string& source) {
  for (auto item : items) files.Add(item.path(), source);
}

void LookAtProjected(core::Volume volume, std::vector<std::string>& warnings) {
  VolumeFiles files(volume.name(), "Projected", warnings);
  for (auto source : volume.projected().sources()) {
    if (source.value().members().empty()) {
      warnings.push_back(
          fmt::format("volume {} (Projected) has no sources provided", Quote(volume.name())));
    } else if (auto map = source.configMap(); map && !map.items().empty()) {
      AddItems(files, map.items(), fmt::format("ConfigMap {}", Quote(map.name())));
    } else if (auto secret = source.secret(); secret && !secret.items().empty()) {
      AddItems(files, secret.items(), fmt::format("Secret {}", Quote(secret.name())));
    } else if (auto downward = source.downwardAPI(); downward && !downward.items().empty()) {
      AddItems(files, downward.items(), "DownwardAPI");
    } else if (auto token = source.serviceAccountToken()) {
      files.Add(token.path(), "ServiceAccountToken");
    }
  }
}

}  // namespace

void WarnAboutOverlappingPaths(ListView<core::Volume> volumes, std::vector<std::string>& warnings) {
  for (auto volume : volumes) {
    if (auto map = volume.configMap(); map && map.items().size() > 1) {
      VolumeFiles files(volume.name(), fmt::format("ConfigMap {}", Quote(map.name())), warnings);
      AddItems(files, map.items(), "");
    }
    if (auto secret = volume.secret(); secret && secret.items().size() > 1) {
      VolumeFiles files(volume.name(), fmt::format("Secret {}", Quote(secret.secretName())),
                        warnings);
      AddItems(files, secret.items(), "");
    }
    if (auto downward = volume.downwardAPI(); downward && downward.items().size() > 1) {
      VolumeFiles files(volume.name(), "DownwardAPI", warnings);
      AddItems(files, downward.items(), "");
    }
    if (volume.projected()) LookAtProjected(volume, warnings);
  }
}

}  // namespace keelson::kube::pod
