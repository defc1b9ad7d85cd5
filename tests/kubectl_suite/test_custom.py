"""Custom resources: from a definition to its end."""
from steps import MERGE, Steps, kubectl, make_namespace

SCHEMA = {
    'type': 'object', 'required': ['spec'], 'properties': {
        'spec': {'type': 'object', 'required': ['image'], 'properties': {
            'image': {'type': 'string', 'description': 'What to run.'},
            'replicas': {'type': 'integer', 'minimum': 0, 'default': 1}}},
        'status': {'type': 'object', 'properties': {
            'ready': {'type': 'integer'},
            'conditions': {'type': 'array', 'items': {'type': 'object', 'properties': {
                'type': {'type': 'string'}, 'status': {'type': 'string'}}}}}}}}

DEFINITION = {
    'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition',
    'metadata': {'name': 'boats.sea.example.com'}, 'spec': {
        'group': 'sea.example.com', 'scope': 'Namespaced',
        'names': {'plural': 'boats', 'kind': 'Boat', 'shortNames': ['bt'], 'categories': ['fleet']},
        'versions': [{
            'name': 'v1', 'served': True, 'storage': True,
            'schema': {'openAPIV3Schema': SCHEMA},
            'subresources': {'status': {}, 'scale': {'specReplicasPath': '.spec.replicas',
                                                     'statusReplicasPath': '.status.ready'}},
            'selectableFields': [{'jsonPath': '.spec.image'}],
            'additionalPrinterColumns': [
                {'name': 'Image', 'type': 'string', 'jsonPath': '.spec.image'},
                {'name': 'Ready', 'type': 'string',
                 'jsonPath': '.status.conditions[?(@.type=="Ready")].status'},
                {'name': 'Age', 'type': 'date', 'jsonPath': '.metadata.creationTimestamp'}]}]}}


def boat(name, image='oak', **spec):
    return {'apiVersion': 'sea.example.com/v1', 'kind': 'Boat', 'metadata': {'name': name},
            'spec': {'image': image, **spec}}


class Custom(Steps):
    def test_life(self):
        make_namespace('harbour')
        kubectl('apply', '-f', '-', stdin=DEFINITION)
        kubectl('wait', '--for=condition=Established', '--timeout=10s', 'crd/boats.sea.example.com')
        ns = ('-n', 'harbour')
        self.step('discovered', lambda: self.expect(
            kubectl('api-resources', '--api-group=sea.example.com'), 'bt'))
        self.step('explained', lambda: self.expect(
            kubectl('explain', 'boat.spec.image'), 'What to run.'))
        self.step('apply', lambda: self.expect(
            kubectl('apply', *ns, '-f', '-', stdin=boat('ark')), 'created'))
        self.step('apply again', lambda: self.expect(
            kubectl('apply', *ns, '-f', '-', stdin=boat('ark', replicas=2)), 'configured'))
        self.step('server side', lambda: self.expect(
            kubectl('apply', '--server-side', *ns, '-f', '-', stdin=boat('argo')),
            'serverside-applied'))
        self.step('refused', lambda: self.expect(kubectl.command(
            'apply', *ns, '-f', '-', stdin=boat('bad', replicas=-1))[2],
            'should be greater than or equal to 0'))
        self.step('get', lambda: self.expect(kubectl('get', 'bt', *ns), 'IMAGE'))
        self.step('by category', lambda: self.expect(kubectl('get', 'fleet', *ns), 'ark'))
        self.step('selected', lambda: self.expect(kubectl(
            'get', 'boats', *ns, '--field-selector=spec.image=oak', '-o', 'name'),
            'boat.sea.example.com/ark'))
        self.step('describe', lambda: self.expect(kubectl('describe', 'boat', 'ark', *ns), 'oak'))
        self.step('scale', lambda: self.expect(
            kubectl('scale', 'boat/ark', '--replicas=4', *ns), 'scaled'))
        self.step('label', lambda: kubectl('label', 'boat', 'ark', 'a=b', *ns))
        self.step('status', lambda: kubectl.server.request(
            'PATCH', '/apis/sea.example.com/v1/namespaces/harbour/boats/ark/status',
            {'status': {'conditions': [{'type': 'Ready', 'status': 'True'}]}}, MERGE))
        self.step('wait', lambda: kubectl('wait', '--for=condition=Ready', 'boat/ark',
                                          '--timeout=5s', *ns))
        self.step('delete one', lambda: kubectl('delete', 'boat', 'argo', *ns))
        self.step('delete the definition', lambda: kubectl('delete', 'crd', 'boats.sea.example.com'))
        self.step('gone', lambda: self.expect(
            kubectl.command('get', '--raw', '/apis/sea.example.com/v1')[2], 'NotFound'))
