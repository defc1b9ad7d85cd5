// Function names come from the ELF symbol table of the mapped file: .symtab, or .dynsym when the
// file is stripped. An address in memory becomes one of the file by way of the program header that
// was mapped there:  vaddr = address - mapping.start + mapping.offset - p_offset + p_vaddr.

#include "profile/symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

namespace keelson::profile {
namespace {

constexpr uint64_t kPageMask = 4095;

// A file mapped for reading. Everything taken from it is checked against its size: the file on
// disk may be another one by now.
class FileView {
 public:
  explicit FileView(const std::string& path) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info{};
    if (fd >= 0 && ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
      void* memory =
          ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
      if (memory != MAP_FAILED) {
        data_ = static_cast<const char*>(memory);
        size_ = static_cast<size_t>(info.st_size);
      }
    }
    if (fd >= 0) ::close(fd);
  }
  ~FileView() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  }
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;

  std::string_view Bytes(uint64_t offset, uint64_t size) const {
    if (offset > size_ || size > size_ - offset) return {};
    return {data_ + offset, size};
  }
  // `count` records; empty when they do not fit or lie unaligned.
  template <typename T>
  std::span<const T> Records(uint64_t offset, uint64_t count) const {
    if (count > size_ / sizeof(T)) return {};
    auto bytes = Bytes(offset, count * sizeof(T));
    if (bytes.empty() || reinterpret_cast<uintptr_t>(bytes.data()) % alignof(T) != 0) return {};
    return {reinterpret_cast<const T*>(bytes.data()), count};
  }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

const Elf64_Ehdr* Header(const FileView& file) {
  auto header = file.Records<Elf64_Ehdr>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != ELFCLASS64) {
    return nullptr;
  }
  return header.data();
}

std::string Hex(std::string_view bytes) {
  std::string out;
  for (unsigned char byte : bytes) fmt::format_to(std::back_inserter(out), "{:02x}", byte);
  return out;
}

std::string BuildId(const FileView& file) {
  const auto* header = Header(file);
  if (header == nullptr) return {};
  for (const auto& segment : file.Records<Elf64_Phdr>(header->e_phoff, header->e_phnum)) {
    if (segment.p_type != PT_NOTE) continue;
    auto notes = file.Bytes(segment.p_offset, segment.p_filesz);
    while (notes.size() >= sizeof(Elf64_Nhdr)) {
      Elf64_Nhdr note;
      std::memcpy(&note, notes.data(), sizeof note);
      uint64_t name = (uint64_t{note.n_namesz} + 3) & ~uint64_t{3};
      uint64_t body = (uint64_t{note.n_descsz} + 3) & ~uint64_t{3};
      notes.remove_prefix(sizeof note);
      if (name + body > notes.size()) break;
      if (note.n_type == NT_GNU_BUILD_ID && notes.starts_with(std::string_view("GNU\0", 4))) {
        return Hex(notes.substr(name, note.n_descsz));
      }
      notes.remove_prefix(name + body);
    }
  }
  return {};
}

// A replaced binary keeps running from its old inode, reachable only through /proc.
std::string PathToOpen(const std::string& file) {
  constexpr std::string_view kDeleted = " (deleted)";
  return file.ends_with(kDeleted) ? "/proc/self/exe" : file;
}

uint64_t TakeHex(std::string_view& text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// "7f0c-7f1d r-xp 00001000 fd:00 123    /usr/bin/x"
std::optional<Mapping> ParseMapsLine(std::string_view line) {
  Mapping mapping;
  mapping.start = TakeHex(line);
  if (!line.starts_with('-')) return {};
  line.remove_prefix(1);
  mapping.limit = TakeHex(line);
  if (line.size() < 6 || line[3] != 'x') return {};
  line.remove_prefix(6);
  mapping.offset = TakeHex(line);
  for (int field = 0; field < 2; ++field) {  // device, inode
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    line.remove_prefix(std::min(line.find(' '), line.size()));
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  mapping.file = line;
  return mapping;
}

std::string Demangle(const std::string& name) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? StripParameters(text.get()) : name;
}

}  // namespace

class AddressSpace::Symbols {
 public:
  explicit Symbols(const Mapping& mapping) : file_(PathToOpen(mapping.file)) {
    const auto* header = Header(file_);
    if (header == nullptr) return;
    for (const auto& segment : file_.Records<Elf64_Phdr>(header->e_phoff, header->e_phnum)) {
      // Mappings begin at whole pages, segments need not.
      uint64_t first_page = segment.p_offset & ~kPageMask;
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
          mapping.offset >= first_page && mapping.offset < segment.p_offset + segment.p_filesz) {
        bias_ = segment.p_vaddr - segment.p_offset + mapping.offset - mapping.start;
      }
    }
    auto sections = file_.Records<Elf64_Shdr>(header->e_shoff, header->e_shnum);
    if (!Load(sections, SHT_SYMTAB)) Load(sections, SHT_DYNSYM);
    std::ranges::sort(functions_, {}, &Function::start);
  }

  std::string_view NameAt(uint64_t address) const {
    uint64_t wanted = address + bias_;
    auto next = std::ranges::upper_bound(functions_, wanted, {}, &Function::start);
    if (next == functions_.begin()) return {};
    const auto& function = *std::prev(next);
    // Hand-written assembly often has no size: then up to the next function.
    if (function.size != 0 && wanted >= function.start + function.size) return {};
    return function.name;
  }

 private:
  struct Function {
    uint64_t start;
    uint64_t size;
    std::string_view name;
  };

  bool Load(std::span<const Elf64_Shdr> sections, uint32_t type) {
    for (const auto& section : sections) {
      if (section.sh_type != type || section.sh_link >= sections.size()) continue;
      const auto& names = sections[section.sh_link];
      auto text = file_.Bytes(names.sh_offset, names.sh_size);
      for (const auto& symbol :
           file_.Records<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
        if (symbol.st_name >= text.size()) continue;
        auto name = text.substr(symbol.st_name);
        functions_.push_back({symbol.st_value, symbol.st_size, name.substr(0, name.find('\0'))});
      }
    }
    return !functions_.empty();
  }

  FileView file_;
  uint64_t bias_ = 0;
  std::vector<Function> functions_;
};

AddressSpace::AddressSpace() = default;
AddressSpace::AddressSpace(AddressSpace&&) noexcept = default;
AddressSpace& AddressSpace::operator=(AddressSpace&&) noexcept = default;
AddressSpace::~AddressSpace() = default;

Result<AddressSpace> AddressSpace::Read() {
  std::ifstream file("/proc/self/maps");
  if (!file) return Fail(ErrorCode::kIo, "/proc/self/maps cannot be read");
  return Parse(std::string(std::istreambuf_iterator<char>(file), {}));
}

AddressSpace AddressSpace::Parse(std::string_view maps) {
  AddressSpace space;
  while (!maps.empty()) {
    size_t end = std::min(maps.find('\n'), maps.size());
    if (auto mapping = ParseMapsLine(maps.substr(0, end))) {
      if (mapping->file.starts_with('/')) {
        mapping->build_id = BuildId(FileView(PathToOpen(mapping->file)));
      }
      space.mappings_.push_back(*std::move(mapping));
    }
    maps.remove_prefix(std::min(end + 1, maps.size()));
  }
  space.symbols_.resize(space.mappings_.size());
  return space;
}

std::optional<size_t> AddressSpace::MappingOf(uint64_t address) const {
  auto next = std::ranges::upper_bound(mappings_, address, {}, &Mapping::start);
  if (next == mappings_.begin() || address >= std::prev(next)->limit) return {};
  return std::prev(next) - mappings_.begin();
}

FunctionName AddressSpace::FunctionAt(uint64_t address) const {
  auto index = MappingOf(address);
  if (index && mappings_[*index].file.starts_with('/')) {
    auto& symbols = symbols_[*index];
    if (!symbols) symbols = std::make_unique<Symbols>(mappings_[*index]);
    std::string name(symbols->NameAt(address));
    if (!name.empty()) return {name, Demangle(name)};
  }
  // Within a stripped file the file is all that can be said, and enough to add samples up by.
  std::string unknown = fmt::format("{:#x}", address);
  if (index && !mappings_[*index].file.empty()) {
    const auto& file = mappings_[*index].file;
    unknown = file.starts_with('[') ? file : fmt::format("[{}]", file.substr(file.rfind('/') + 1));
  }
  return {unknown, unknown};
}

std::string StripParameters(std::string_view demangled) {
  // The parameter list is the last parenthesis outside of template arguments and not part of the
  // name "operator()" or "(anonymous namespace)". Searched from the end over a balanced pair.
  std::string_view text = demangled;
  for (std::string_view suffix : {" const", " volatile", " &&", " &"}) {
    if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
  }
  if (!text.ends_with(')')) return std::string(demangled);
  int depth = 0;
  for (size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) {
      bool names_something =
          i == 0 || text.substr(0, i).ends_with("operator") || text.substr(0, i).ends_with("::");
      return std::string(names_something ? demangled : text.substr(0, i));
    }
  }
  return std::string(demangled);
}

}  // namespace keelson::profile
