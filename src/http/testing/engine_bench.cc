#include "http/testing/engine_bench.h"

#include <stdexcept>

#include "base/completion.h"

namespace keelson::http::testing {

Task<void> BenchHandler::Serve(Exchange& exchange) {
  const auto& request = exchange.request;
  seen.push_back(fmt::format("{} {} host={}", request.method, request.target, request.host));
  exchange.deadline = deadline;
  auto& response = *exchange.response;
  response.headers().AddView("content-type", "text/plain");
  if (request.path == "/echo") {
    co_await Echo(exchange);
  } else if (request.path == "/stream") {
    response.Start(200);
    (void)co_await response.Write({Slice::Static("one "), Slice::Static("two")});
    (void)co_await response.Write({Slice::Static(" three")});
    response.Finish();
  } else if (request.path == "/hang") {
    co_await Hang(exchange);
  } else if (request.path == "/flood") {
    co_await Flood(exchange);
  } else if (request.path == "/upgrade") {
    co_await Upgrade(exchange);
  } else if (request.path == "/throw") {
    throw std::runtime_error("kaboom");
  } else if (request.path == "/short") {
    response.headers().Set("Content-Length", "10");
    response.Start(200);
    (void)co_await response.Write({Slice::Static("half")});
    response.Finish();
  } else if (request.path == "/abort") {
    response.Start(200);
    (void)co_await response.Write({Slice::Static("half")});
    response.Abort();
  } else if (request.path == "/close") {
    response.CloseConnection();
    response.Send(200, {Slice::Static("bye")});
  } else if (request.path == "/big") {
    response.Send(200, {Slice::Own(std::string(1'000'000, 'b'))});
  } else if (request.path != "/nothing") {
    response.Send(200, {Slice::Static("hello")});
  }
  ++finished;
}

Task<void> BenchHandler::Echo(Exchange& exchange) {
  auto body = co_await exchange.body->ReadAll(10'000'000);
  if (!body) {
    exchange.response->Send(400, {Slice::Own(body.error().message)});
  } else {
    exchange.response->Send(200, {Slice::Own(*std::move(body))});
  }
}

Task<void> BenchHandler::Hang(Exchange& exchange) {
  auto stopped = Completion<bool>::Create();
  std::stop_callback on_stop(exchange.cancelled.get_token(), [stopped] { stopped->Set(true); });
  co_await Completion<bool>::Wait(stopped);
  ++cancelled;
  exchange.response->Send(504, {});
}

Task<void> BenchHandler::Flood(Exchange& exchange) {
  exchange.response->Start(200);
  for (;;) {
    auto piece = Slice::Own(std::string(10'000, 'f'));
    flooded += piece.size();
    auto written = co_await exchange.response->Write({std::move(piece)});
    if (!written) break;
  }
}

Task<void> BenchHandler::Upgrade(Exchange& exchange) {
  exchange.response->headers().AddView("connection", "Upgrade");
  exchange.response->headers().AddView("upgrade", "echo");
  auto stream = co_await exchange.response->Upgrade();
  if (!stream) {
    exchange.response->Send(400, {Slice::Own(stream.error().message)});
    co_return;
  }
  for (;;) {
    auto piece = co_await (*stream)->Read();
    if (!piece || piece->empty()) break;
    auto written = co_await (*stream)->Write(*std::move(piece));
    if (!written) break;
  }
  (*stream)->Close();
}

}  // namespace keelson::http::testing
