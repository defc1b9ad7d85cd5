"""One plain object of every kind that kubectl can create, with a change to it for the patch types."""

POD_SPEC = {'containers': [{'name': 'c', 'image': 'registry.example.com/app:v1'}]}
TEMPLATE = {'metadata': {'labels': {'app': 'x'}}, 'spec': POD_SPEC}
ONCE = {'spec': {'restartPolicy': 'Never', **POD_SPEC}}
SELECTOR = {'matchLabels': {'app': 'x'}}
TARGET = {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'x'}
RULES = [{'apiGroups': [''], 'resources': ['pods'], 'verbs': ['get', 'list']}]
MATCHED = {'resourceRules': [{'apiGroups': ['example.com'], 'apiVersions': ['v1'],
                              'operations': ['CREATE'], 'resources': ['things']}]}
WEBHOOKS = [{'name': 'a.example.com', 'clientConfig': {'url': 'https://127.0.0.1:1/x'},
             'sideEffects': 'None', 'admissionReviewVersions': ['v1'],
             'rules': MATCHED['resourceRules']}]
# A request for CN=someone, signed by a key that was thrown away.
SIGNING_REQUEST = (
    'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITU1IUUNBUUF3RWpFUU1BNEdBMVVFQXd3SGMyOXRa'
    'Vzl1WlRCWk1CTUdCeXFHU000OUFnRUdDQ3FHU000OQpBd0VIQTBJQUJJUmFEYVJqcUM2NDlSOTJRR1FkRkhLZFplZzFP'
    'QzFuaVdtSDg0b0pBK1VqOGkrWjRZeFlUaSt1CkYyNkp2RUQyem1mRS9DT3JLZW5TUVFkMDIrUG5xNmVnQURBS0JnZ3Fo'
    'a2pPUFFRREFnTklBREJGQWlFQTROV00KRWdBZXF6TzdrOEVVREZvYnFLUU82VkpKZmQwZnJsdzVWZXNlMmxjQ0lFOWRD'
    'UW5RZmhIcVNnMGV1VjdXSGtvagpBdHd4THNwajZNZnluV1UvM0tESQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNU'
    'LS0tLS0K')


DEFAULTED_LISTS = {
    'CSINode', 'CronJob', 'EndpointSlice', 'Endpoints', 'MutatingAdmissionPolicy', 'PodDisruptionBudget',
    'MutatingWebhookConfiguration', 'ResourceClaim', 'ResourceClaimTemplate', 'Secret',
    'ValidatingAdmissionPolicy', 'ValidatingWebhookConfiguration'}


class Kind:
    """A kind and its object.

    finalizes: something has to be done before it is gone. describes_from: clients of lower
    minor versions ask for an API version that is gone. settles: false where the server's defaults in a list make some
    clients patch the same again on every apply.
    """

    def __init__(self, api_version, kind, cluster=False, name='x', finalizes=False,
                 describes_from=0, **fields):
        self.api_version, self.kind, self.cluster, self.name = api_version, kind, cluster, name
        self.finalizes, self.describes_from = finalizes, describes_from
        self.settles = kind not in DEFAULTED_LISTS
        group = api_version.rpartition('/')[0]
        self.argument = kind.lower() + ('.' + api_version.split('/')[1] + '.' + group if group else '')
        self.fields = fields

    def manifest(self, labels=None):
        metadata = {'name': self.name}
        if labels:
            metadata['labels'] = labels
        return {'apiVersion': self.api_version, 'kind': self.kind, 'metadata': metadata, **self.fields}


KINDS = [
    Kind('v1', 'Namespace', cluster=True, name='kind-ns', finalizes=True),
    Kind('v1', 'ConfigMap', data={'a': '1'}),
    Kind('v1', 'Secret', stringData={'a': '1'}),
    Kind('v1', 'ServiceAccount'),
    Kind('v1', 'Pod', spec=POD_SPEC),
    Kind('v1', 'PodTemplate', template=TEMPLATE),
    Kind('v1', 'ReplicationController', spec={'replicas': 1, 'selector': {'app': 'x'},
                                              'template': TEMPLATE}),
    Kind('v1', 'Service', spec={'selector': {'app': 'x'}, 'ports': [{'port': 80}]}),
    Kind('v1', 'Endpoints', subsets=[{'addresses': [{'ip': '10.1.2.3'}], 'ports': [{'port': 80}]}]),
    Kind('v1', 'Event', involvedObject={'kind': 'Pod', 'namespace': 'kinds', 'name': 'p'},
         reason='Tested', message='by a test', type='Normal'),
    Kind('v1', 'Node', cluster=True, name='kind-node'),
    Kind('v1', 'PersistentVolume', cluster=True, name='kind-pv', finalizes=True,
         spec={'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce'],
               'hostPath': {'path': '/x'}}),
    Kind('v1', 'PersistentVolumeClaim', finalizes=True,
         spec={'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Gi'}}}),
    Kind('v1', 'LimitRange', spec={'limits': [{'type': 'Pod', 'max': {'cpu': '64'}}]}),
    Kind('v1', 'ResourceQuota', spec={'hard': {'count/leases.coordination.k8s.io': '100'}}),
    Kind('apps/v1', 'Deployment', spec={'replicas': 2, 'selector': SELECTOR, 'template': TEMPLATE}),
    Kind('apps/v1', 'ReplicaSet', spec={'replicas': 2, 'selector': SELECTOR, 'template': TEMPLATE}),
    Kind('apps/v1', 'StatefulSet', spec={'serviceName': 'x', 'selector': SELECTOR,
                                         'template': TEMPLATE}),
    Kind('apps/v1', 'DaemonSet', spec={'selector': SELECTOR, 'template': TEMPLATE}),
    Kind('apps/v1', 'ControllerRevision', data={'a': 1}, revision=1),
    Kind('batch/v1', 'Job', spec={'template': ONCE}),
    Kind('batch/v1', 'CronJob', describes_from=21,
         spec={'schedule': '0 1 * * *', 'jobTemplate': {'spec': {'template': ONCE}}}),
    Kind('autoscaling/v1', 'HorizontalPodAutoscaler', name='old',
         spec={'maxReplicas': 3, 'scaleTargetRef': TARGET, 'targetCPUUtilizationPercentage': 70}),
    Kind('autoscaling/v2', 'HorizontalPodAutoscaler',
         spec={'maxReplicas': 3, 'scaleTargetRef': TARGET,
               'metrics': [{'type': 'Resource', 'resource': {
                   'name': 'memory', 'target': {'type': 'Utilization', 'averageUtilization': 60}}}]}),
    Kind('policy/v1', 'PodDisruptionBudget', describes_from=21,
         spec={'minAvailable': 1, 'selector': SELECTOR}),
    Kind('networking.k8s.io/v1', 'NetworkPolicy', spec={'podSelector': {}}),
    Kind('networking.k8s.io/v1', 'IngressClass', cluster=True, name='kind-ic',
         spec={'controller': 'example.com/c'}),
    Kind('networking.k8s.io/v1', 'Ingress', spec={'defaultBackend': {'service': {
        'name': 'x', 'port': {'number': 80}}}}),
    Kind('networking.k8s.io/v1', 'IPAddress', cluster=True, name='10.96.77.77', describes_from=33,
         spec={'parentRef': {'resource': 'services', 'namespace': 'kinds', 'name': 'x'}}),
    Kind('networking.k8s.io/v1', 'ServiceCIDR', cluster=True, name='kind-cidr', describes_from=33,
         spec={'cidrs': ['10.100.0.0/24']}),
    Kind('coordination.k8s.io/v1', 'Lease', spec={'holderIdentity': 'me'}),
    Kind('discovery.k8s.io/v1', 'EndpointSlice', addressType='IPv4', describes_from=21,
         endpoints=[{'addresses': ['10.1.2.3']}], ports=[{'port': 80}]),
    Kind('events.k8s.io/v1', 'Event', name='new', eventTime='2024-01-01T00:00:00.000001Z',
         reportingController='example.com/c', reportingInstance='c-1', action='Do',
         reason='Because', type='Normal', note='hi',
         regarding={'kind': 'Pod', 'namespace': 'kinds', 'name': 'p'}),
    Kind('rbac.authorization.k8s.io/v1', 'Role', rules=RULES),
    Kind('rbac.authorization.k8s.io/v1', 'RoleBinding',
         roleRef={'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'Role', 'name': 'x'},
         subjects=[{'kind': 'User', 'name': 'u', 'apiGroup': 'rbac.authorization.k8s.io'}]),
    Kind('rbac.authorization.k8s.io/v1', 'ClusterRole', cluster=True, name='kind-cr', rules=RULES),
    Kind('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', cluster=True, name='kind-crb',
         roleRef={'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'ClusterRole', 'name': 'kind-cr'},
         subjects=[{'kind': 'User', 'name': 'u', 'apiGroup': 'rbac.authorization.k8s.io'}]),
    Kind('storage.k8s.io/v1', 'StorageClass', cluster=True, name='kind-sc',
         provisioner='d.example.com'),
    Kind('storage.k8s.io/v1', 'CSIDriver', cluster=True, name='kind.example.com', spec={}),
    Kind('storage.k8s.io/v1', 'CSINode', cluster=True, name='kind-csinode',
         spec={'drivers': [{'name': 'd.example.com', 'nodeID': 'n'}]}),
    Kind('storage.k8s.io/v1', 'CSIStorageCapacity', storageClassName='kind-sc'),
    Kind('storage.k8s.io/v1', 'VolumeAttachment', cluster=True, name='kind-va',
         spec={'attacher': 'd.example.com', 'nodeName': 'n', 'source': {'persistentVolumeName': 'p'}}),
    Kind('storage.k8s.io/v1', 'VolumeAttributesClass', cluster=True, name='kind-vac', finalizes=True, describes_from=34,
         driverName='d.example.com', parameters={'iops': '1'}),
    Kind('scheduling.k8s.io/v1', 'PriorityClass', cluster=True, name='kind-pc', value=10),
    Kind('node.k8s.io/v1', 'RuntimeClass', cluster=True, name='kind-rc', handler='runc'),
    Kind('certificates.k8s.io/v1', 'CertificateSigningRequest', cluster=True, name='kind-csr',
         spec={'request': SIGNING_REQUEST, 'signerName': 'example.com/s', 'usages': ['client auth']}),
    Kind('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', cluster=True,
         name='kind-vwc', webhooks=WEBHOOKS),
    Kind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', cluster=True,
         name='kind-mwc', webhooks=WEBHOOKS),
    Kind('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', cluster=True,
         name='kind-vap', spec={'matchConstraints': MATCHED,
                                'validations': [{'expression': 'object.metadata.name != "no"'}]}),
    Kind('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', cluster=True,
         name='kind-vapb', spec={'policyName': 'none', 'validationActions': ['Deny']}),
    Kind('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicy', cluster=True, name='kind-map',
         spec={'reinvocationPolicy': 'Never', 'matchConstraints': MATCHED, 'mutations': [
             {'patchType': 'ApplyConfiguration', 'applyConfiguration': {
                 'expression': "Object{metadata: Object.metadata{labels: {'m': 'n'}}}"}}]}),
    Kind('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicyBinding', cluster=True,
         name='kind-mapb', spec={'policyName': 'none'}),
    Kind('flowcontrol.apiserver.k8s.io/v1', 'PriorityLevelConfiguration', cluster=True,
         name='kind-plc', spec={'type': 'Limited', 'limited': {'limitResponse': {'type': 'Reject'}}}),
    Kind('flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', cluster=True, name='kind-fs',
         spec={'priorityLevelConfiguration': {'name': 'catch-all'}}),
    Kind('resource.k8s.io/v1', 'DeviceClass', cluster=True, name='kind-dc', spec={}),
    Kind('resource.k8s.io/v1', 'ResourceClaim', spec={'devices': {'requests': [
        {'name': 'r', 'exactly': {'deviceClassName': 'kind-dc'}}]}}),
    Kind('resource.k8s.io/v1', 'ResourceClaimTemplate', spec={'spec': {'devices': {'requests': [
        {'name': 'r', 'exactly': {'deviceClassName': 'kind-dc'}}]}}}),
    Kind('resource.k8s.io/v1', 'ResourceSlice', cluster=True, name='kind-rs',
         spec={'driver': 'gpu.example.com', 'nodeName': 'n', 'devices': [{'name': 'd0'}],
               'pool': {'name': 'p', 'generation': 1, 'resourceSliceCount': 1}}),
    Kind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', cluster=True, finalizes=True,
         name='things.kinds.example.com',
         spec={'group': 'kinds.example.com', 'scope': 'Namespaced',
               'names': {'plural': 'things', 'kind': 'Thing'},
               'versions': [{'name': 'v1', 'served': True, 'storage': True, 'schema': {
                   'openAPIV3Schema': {'type': 'object'}}}]}),
    Kind('apiregistration.k8s.io/v1', 'APIService', cluster=True, name='v1.ext.example.com',
         spec={'group': 'ext.example.com', 'version': 'v1', 'groupPriorityMinimum': 100,
               'versionPriority': 10, 'insecureSkipTLSVerify': True,
               'service': {'namespace': 'kinds', 'name': 's'}}),
]
