// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import Configuration
import Foundation
import Synchronization

/// What a file and the environment say of the options of `duplex serve`: the environment comes before the file.
///
/// The key `tls.certificate` is `DUPLEX_TLS_CERTIFICATE` in the environment, and `allowed-host` is `DUPLEX_ALLOWED_HOST`.
struct ServeConfiguration {
    private struct Source {
        /// How errors call it.
        let name: String
        let values: any ConfigSnapshot
        /// What stands in front of the keys.
        let prefix: [String]
    }

    private let sources: [Source]
    private let file: String?
    /// The keys that the file has.
    private let keys: FileKeys
    /// The keys that somebody has asked for.
    private var askedKeys: Set<String> = []

    /// The longest file that is read.
    private static let sizeBound = 1 << 20

    /// Reads the file.
    ///
    /// - Parameters:
    ///   - file: its path, which ends in `.json`, `.yaml` or `.yml`; `nil` for the environment alone.
    ///   - environment: the variables. Default: those of the process.
    /// - Throws: ``Failure`` for a file that can't be read or isn't of its form.
    init(file: String?, environment: [String: String] = ProcessInfo.processInfo.environment) throws(Failure) {
        self.file = file
        keys = FileKeys()
        let variables = EnvironmentVariablesProvider(environmentVariables: environment).snapshot()
        var sources = [Source(name: "the environment", values: variables, prefix: ["duplex"])]
        if let file {
            sources.append(Source(name: file.visible, values: try Self.read(file, noting: keys), prefix: []))
        }
        self.sources = sources
    }

    // MARK: Asking

    /// Gives an option the value of a key, unless it has one.
    ///
    /// - Throws: ``Failure`` for a value that isn't one for the option; it names the key, the value and where it stands.
    mutating func fill<Value: ExpressibleByArgument>(
        _ option: inout Value?,
        _ key: String,
        isSecret: Bool = false,
        where isAllowed: (Value) -> Bool = { _ in true }
    ) throws(Failure) {
        askedKeys.insert(key)
        guard option == nil else { return }
        for source in sources {
            guard let text = try text(key, source) else { continue }
            guard let value = Value(argument: text), isAllowed(value) else {
                let choices = Value.allValueStrings
                let hint = choices.isEmpty ? "" : " It is one of \(choices.joined(separator: ", "))."
                throw Self.wrong(key, isSecret ? "a text that isn't shown here" : "“\(text.visible)”", source, hint)
            }
            option = value
            return
        }
    }

    /// Gives an option the values of a key, unless it has some: an array in a file, separated by commas in the environment.
    ///
    /// - Throws: as ``fill(_:_:isSecret:where:)``.
    mutating func fill(_ option: inout [String], _ key: String) throws(Failure) {
        askedKeys.insert(key)
        guard option.isEmpty else { return }
        for source in sources {
            if let list = try? content(key, .stringArray, source), case .stringArray(let values) = list {
                option = values
                return
            }
            if let text = try text(key, source) {
                option = [text]
                return
            }
        }
    }

    /// Sets an option that a key says is true, unless it is set.
    ///
    /// - Throws: as ``fill(_:_:isSecret:where:)``.
    mutating func fill(_ option: inout Bool, _ key: String) throws(Failure) {
        var value = option ? true : nil
        try fill(&value, key)
        option = value ?? false
    }

    /// Sets an option that a key says is true or false, unless it is either.
    ///
    /// - Throws: as ``fill(_:_:isSecret:where:)``.
    mutating func fill(_ option: inout Bool?, _ key: String) throws(Failure) {
        askedKeys.insert(key)
        guard option == nil else { return }
        for source in sources {
            do {
                guard let found = try content(key, .bool, source) else { continue }
                if case .bool(let value) = found { option = value }
                return
            } catch {
                let text = try text(key, source) ?? ""
                throw Self.wrong(key, "“\(text.visible)”", source, " It is true or false.")
            }
        }
    }

    /// Refuses a file with keys that nobody has asked for.
    ///
    /// - Throws: ``Failure`` that names them.
    func checkKeys() throws(Failure) {
        let others = keys.all.subtracting(askedKeys).sorted()
        guard let file, !others.isEmpty else { return }
        let names = others.map { "“\($0.visible)”" }.joined(separator: ", ")
        let known = askedKeys.sorted().joined(separator: ", ")
        throw Failure(.failure, "\(file.visible) has \(names), which isn't known. There are: \(known).")
    }

    private static func wrong(_ key: String, _ value: String, _ source: Source, _ hint: String) -> Failure {
        Failure(.failure, "“\(key)” in \(source.name) is \(value), which isn't a value for it.\(hint)")
    }

    // MARK: Reading

    /// A value as it would stand on the command line; a number of a file, too.
    private func text(_ key: String, _ source: Source) throws(Failure) -> String? {
        do {
            if case .string(let text) = try content(key, .string, source) { return text }
            return nil
        } catch {
            if case .int(let number) = try? content(key, .int, source) { return "\(number)" }
            throw Self.wrong(key, "something else than a text or a number", source, "")
        }
    }

    private func content(_ key: String, _ type: ConfigType, _ source: Source) throws -> ConfigContent? {
        let key = AbsoluteConfigKey(source.prefix + key.split(separator: ".").map { String($0) })
        return try source.values.value(forKey: key, type: type).value?.content
    }

    private static func read(_ path: String, noting keys: FileKeys) throws(Failure) -> any ConfigSnapshot {
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            data = try handle.read(upToCount: sizeBound + 1) ?? Data()
        } catch {
            throw Failure(.failure, "\(path.visible) can't be read: \(error.localizedDescription.visible)")
        }
        if data.count > sizeBound { throw Failure(.failure, "\(path.visible) is longer than 1 MiB.") }
        do {
            switch path.split(separator: ".").last?.lowercased() {
            case "json":
                let options = JSONSnapshot.ParsingOptions(secretsSpecifier: .dynamic { key, _ in keys.note(key) })
                return try JSONSnapshot(data: data.bytes, providerName: path, parsingOptions: options)
            case "yaml", "yml":
                let options = YAMLSnapshot.ParsingOptions(secretsSpecifier: .dynamic { key, _ in keys.note(key) })
                return try YAMLSnapshot(data: data.bytes, providerName: path, parsingOptions: options)
            default:
                throw Failure(.failure, "\(path.visible) isn't named .json, .yaml or .yml.")
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.failure, "\(path.visible) can't be understood: \(String(describing: error).visible)")
        }
    }
}

/// The keys of a file, which swift-configuration names only to who decides what is secret.
private final class FileKeys: Sendable {
    private let keys = Mutex<Set<String>>([])

    var all: Set<String> { keys.withLock { $0 } }

    /// - Returns: Whether the value is secret: all are, since nobody shows them but this file.
    func note(_ key: String) -> Bool {
        keys.withLock { _ = $0.insert(key) }
        return true
    }
}
