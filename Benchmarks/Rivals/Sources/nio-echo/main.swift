// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// An echo with NIOWebSocket, by a channel handler on one event loop: prints its port, then serves until it is ended.

import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

final class Echo: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        let opcode: WebSocketOpcode
        switch frame.opcode {
        case .binary, .text, .connectionClose: opcode = frame.opcode
        case .ping: opcode = .pong
        default: return
        }
        let answer = WebSocketFrame(fin: true, opcode: opcode, data: frame.unmaskedData)
        context.write(wrapOutboundOut(answer), promise: nil)
        if opcode == .connectionClose { context.close(promise: nil) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
    }
}

let upgrader = NIOWebSocketServerUpgrader(
    maxFrameSize: 1 << 24,
    shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
    upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Echo()) }
    }
)
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let server = try await ServerBootstrap(group: group)
    .serverChannelOption(.backlog, value: 4_096)
    .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
    .childChannelInitializer { channel in
        channel.pipeline.configureHTTPServerPipeline(
            withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in })
        )
    }
    .bind(host: "127.0.0.1", port: 0).get()
print(server.localAddress?.port ?? 0)
fflush(nil)
try await server.closeFuture.get()
