#include "admission/admission.h"

#include <gtest/gtest.h>

#include "base/executor.h"
#include "base/gate.h"
#include "value/json.h"

namespace keelson::admission {
namespace {

// Writes its name into the object, and refuses the objects it is told to refuse.
class Stamp final : public Plugin {
 public:
  Stamp(std::string name, Operation operation) : name_(std::move(name)), operation_(operation) {}
  std::string_view name() const override { return name_; }
  bool Handles(const Request& request) const override { return request.operation == operation_; }
  bool mutates() const override { return true; }
  bool validates() const override { return true; }
  Task<ApiResult<void>> Mutate(const Request& request, value::Ref object) const override {
    const std::string before(request.object["by"].AsString());
    object.SetField("by", object.builder().String(before + name_));
    co_return ApiResult<void>();
  }
  Task<ApiResult<void>> Validate(const Request& request) const override {
    if (request.object["refuse"].AsString() == name_) {
      co_return std::unexpected(BadRequestStatus(name_ + " refuses"));
    }
    co_return ApiResult<void>();
  }

 private:
  std::string name_;
  Operation operation_;
};

Chain MakeChain() {
  std::vector<std::unique_ptr<const Plugin>> plugins;
  plugins.push_back(std::make_unique<Stamp>("a", Operation::kCreate));
  plugins.push_back(std::make_unique<Stamp>("u", Operation::kUpdate));
  plugins.push_back(std::make_unique<Stamp>("b", Operation::kCreate));
  return Chain(std::move(plugins));
}

Task<void> Keep(Task<ApiResult<void>> task, ApiResult<void>& result) {
  result = co_await std::move(task);
}

ApiResult<void> Outcome(Task<ApiResult<void>> task) {
  ApiResult<void> result;
  ManualExecutor executor;
  Gate gate;
  gate.Spawn(&executor, Keep(std::move(task), result));
  executor.RunUntilIdle();
  gate.CloseAndWait();
  return result;
}

TEST(AdmissionTest, PluginsChangeTheObjectInOrderAndSeeEachOthersChanges) {
  const Chain chain = MakeChain();
  value::Builder builder(*value::ParseJson("{}"));
  Request request{.operation = Operation::kCreate, .object = builder.root().Get()};
  ASSERT_TRUE(chain.WantsToMutate(request));
  ASSERT_TRUE(Outcome(chain.Mutate(request, builder.root())));
  EXPECT_EQ(builder.root().Get()["by"].AsString(), "ab");
}

TEST(AdmissionTest, OperationsNobodyHandlesCostNothing) {
  const Chain chain = MakeChain();
  EXPECT_FALSE(chain.WantsToMutate({.operation = Operation::kDelete}));
  EXPECT_FALSE(chain.WantsToValidate({.operation = Operation::kDelete}));
  EXPECT_FALSE(Chain().WantsToMutate({}));
}

TEST(AdmissionTest, TheFirstRefusalIsTheAnswer) {
  const Chain chain = MakeChain();
  const auto object = *value::ParseJson(R"({"refuse":"b"})");
  const Request request{.operation = Operation::kCreate, .object = object.root()};
  auto refused = Outcome(chain.Validate(request));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "b refuses");
}

}  // namespace
}  // namespace keelson::admission
