// apigen: compiles API files (docs/api-format.md) to C++.
//
//   apigen --namespace keelson::api --include-dir api --out <folder> <file.api>...
//
// Writes <folder>/<include-dir>/catalog.h, tables.cc and one header per file. A file whose content
// would not change is left alone, so that nothing rebuilds for nothing.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "emit.h"

namespace keelson::apigen {
namespace {

Result<std::string> ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return Fail(ErrorCode::kIo, "cannot read {}", path.string());
  return std::move(text).str();
}

Result<void> WriteIfChanged(const std::filesystem::path& path, std::string_view text) {
  if (std::filesystem::exists(path)) {
    TRY(std::string old, ReadFile(path));
    if (old == text) return {};
  }
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return Fail(ErrorCode::kIo, "cannot write {}", path.string());
  return {};
}

Result<void> Generate(const EmitOptions& options, const std::filesystem::path& out,
                      const std::vector<std::filesystem::path>& paths) {
  std::vector<schema::ApiFile> files;
  for (const auto& path : paths) {
    TRY(std::string text, ReadFile(path));
    TRY(schema::ApiFile file, schema::ParseApiFile(path.filename().string(), text));
    files.push_back(std::move(file));
  }
  TRY(Model model, BuildModel(files));
  const NameTable names(model);
  const std::filesystem::path folder = out / options.include_dir;
  std::filesystem::create_directories(folder);
  TRY_VOID(WriteIfChanged(folder / "catalog.h", EmitCatalogHeader(model, names, options)));
  TRY_VOID(WriteIfChanged(folder / "tables.cc", EmitTables(model, names, options)));
  for (size_t i = 0; i < model.files.size(); ++i) {
    TRY(std::string header, EmitAccessors(model, names, i, options));
    const std::string name = FileIdentifier(model.files[i].source->name) + ".h";
    TRY_VOID(WriteIfChanged(folder / name, header));
  }
  return {};
}

int Main(int argc, char** argv) {
  EmitOptions options{.cpp_namespace = "keelson::api", .include_dir = "api"};
  std::filesystem::path out = ".";
  std::vector<std::filesystem::path> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool has_next = i + 1 < argc;
    if (word == "--namespace" && has_next) {
      options.cpp_namespace = argv[++i];
    } else if (word == "--include-dir" && has_next) {
      options.include_dir = argv[++i];
    } else if (word == "--out" && has_next) {
      out = argv[++i];
    } else if (word.starts_with("--")) {
      fmt::print(stderr, "apigen: unknown option {}\n", word);
      return 2;
    } else {
      paths.emplace_back(word);
    }
  }
  if (paths.empty()) {
    fmt::print(stderr, "usage: apigen [--namespace N] [--include-dir D] [--out F] <file.api>...\n");
    return 2;
  }
  if (auto done = Generate(options, out, paths); !done) {
    fmt::print(stderr, "{}\n", done.error().message);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace keelson::apigen

int main(int argc, char** argv) { return keelson::apigen::Main(argc, argv); }
