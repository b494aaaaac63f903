// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets

// Whose handler it was that has blocked the loop: found out only once that has happened.

extension ServerLoop: StepObserver {
    /// Makes the loop report long steps, where the app wants that.
    func observeSteps() {
        guard let threshold = server.blockedLoopThreshold else { return }
        loop.core.observeSteps(self, threshold: threshold)
    }

    func claims(_ step: LoopStep, lasting duration: Duration) -> Bool {
        guard let services = state.value.services else { return false }
        let route =
            switch step {
            case .task(let task): route(of: task, services)
            case .call(let object): route(of: object, services)
            }
        guard let route else { return false }
        blocks.count(route, duration)
        return true
    }

    func tookLong(_ duration: Duration) {
        blocks.count(nil, duration)
    }

    private func route(of task: TaskIdentity, _ services: LoopServices) -> String? {
        let served = state.value.webSockets.values.first { $0.task == task }
        return served?.endpoint.name ?? services.route(of: task)
    }

    private func route(of object: AnyObject, _ services: LoopServices) -> String? {
        switch object {
        case let connection as HTTPConnection: connection.lastRoute.flatMap(services.name)
        case let socket as WebSocket: state.value.webSockets[ObjectIdentifier(socket)]?.endpoint.name
        case let forwarder as any StepForwarder: forwarder.stepTarget.flatMap { route(of: $0, services) }
        default: nil
        }
    }
}
