#include "kube/print/printers.h"

#include <gtest/gtest.h>

#include "api/catalog.h"
#include "rest/table.h"
#include "schema/random_object.h"
#include "value/json.h"

namespace keelson::kube::print {
namespace {

// Two hours after the objects below were created.
const WallTime kNow{std::chrono::seconds(1'767'225'600 + 7200)};

struct Sample {
  std::string_view group;
  std::string_view resource;
  std::string_view object;  // members besides name and creation
  std::string_view cells;   // as JSON, without brackets
};

const schema::ResourceInfo& InfoOf(std::string_view group, std::string_view resource) {
  for (const auto& version : api::kCatalog.group_versions()) {
    if (version.group != group) continue;
    if (const auto* info = version.FindResource(resource); info && info->hub.kind.empty()) {
      return *info;
    }
  }
  ADD_FAILURE() << group << "/" << resource << " is not in the catalog";
  std::abort();
}

std::string Cells(const rest::TableLayout& layout, std::string_view json) {
  rest::Body body;
  const auto object = Slice::Copy(json);
  layout.AppendRow(object, object, {.include = rest::IncludeObject::kNone, .now = kNow}, body);
  auto row = Flatten(body.Take());
  const auto from = row.find('[') + 1;
  return row.substr(from, row.rfind("],\"object\"") - from);
}

std::string CellsOf(const Sample& sample) {
  const rest::TableLayout layout(InfoOf(sample.group, sample.resource),
                                 FindPrinter(sample.group, sample.resource));
  std::string_view more = sample.object;
  std::string metadata = R"("metadata":{"name":"x","creationTimestamp":"2026-01-01T00:00:00Z")";
  // Members of metadata stand in front, up to a bar.
  if (const auto bar = more.find('|'); bar != std::string_view::npos) {
    metadata += "," + std::string(more.substr(0, bar));
    more.remove_prefix(bar + 1);
  }
  return Cells(layout, "{" + metadata + "}" + (more.empty() ? "" : ",") + std::string(more) + "}");
}

constexpr Sample kSamples[] = {
    {"", "configmaps", R"("data":{"a":"b"},"binaryData":{"c":"","d":""})", R"("x",3,"120m")"},
    {"", "secrets", R"("data":{"a":"b"},"type":"Opaque")", R"("x","Opaque",1,"120m")"},
    {"", "serviceaccounts", "", R"("x","120m")"},
    {"", "limitranges", R"("spec":{})", R"("x","2026-01-01T00:00:00Z")"},
    {"", "namespaces", R"("status":{"phase":"Active"})", R"("x","Active","120m")"},
    {"", "resourcequotas",
     R"("status":{"hard":{"pods":"4","limits.cpu":"2","cpu":"1"},"used":{"pods":"3"}})",
     R"("x","cpu: 0/1, pods: 3/4","limits.cpu: 0/2","120m")"},
    {"coordination.k8s.io", "leases", R"("spec":{"holderIdentity":"me"})", R"("x","me","120m")"},
    {"", "nodes",
     R"("labels":{"node-role.kubernetes.io/b":"","node-role.kubernetes.io/":"","kubernetes.io/role":"a"}|)"
     R"("spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"False"}],)"
     R"("addresses":[{"type":"InternalIP","address":"10.0.0.1"}],"nodeInfo":{"kubeletVersion":"v1",)"
     R"("osImage":"","kernelVersion":"6.1","architecture":"amd64","containerRuntimeVersion":"c://2"}})",
     R"("x","NotReady,SchedulingDisabled","a,b","120m","v1","10.0.0.1","\u003cnone\u003e",)"
     R"j("\u003cunknown\u003e","6.1 (amd64)","c://2")j"},
    {"", "nodes", "",
     R"("x","Unknown","\u003cnone\u003e","120m","","\u003cnone\u003e","\u003cnone\u003e",)"
     R"("\u003cunknown\u003e","\u003cunknown\u003e","\u003cunknown\u003e")"},
    {"", "componentstatuses",
     R"("conditions":[{"type":"Healthy","status":"False","message":"m","error":"e"}])",
     R"("x","Unhealthy","m","e")"},
    {"node.k8s.io", "runtimeclasses", R"("handler":"runc")", R"("x","runc","120m")"},
    {"", "persistentvolumes",
     R"("spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteMany","ReadWriteOnce"],)"
     R"("claimRef":{"namespace":"n","name":"c"},"persistentVolumeReclaimPolicy":"Retain",)"
     R"("storageClassName":"s","volumeMode":"Block"},"status":{"phase":"Bound","reason":"r"})",
     R"("x","1Gi","RWO,RWX","Retain","Bound","n/c","s","\u003cunset\u003e","r","120m","Block")"},
    {"", "persistentvolumeclaims",
     R"("deletionTimestamp":"2026-01-01T00:00:00Z","annotations":{"volume.beta.kubernetes.io/storage-class":"old"}|)"
     R"("spec":{"volumeName":"v","volumeAttributesClassName":"fast"},)"
     R"("status":{"phase":"Bound","accessModes":["ReadWriteOncePod"],"capacity":{"storage":"2Gi"}})",
     R"("x","Terminating","v","2Gi","RWOP","old","fast","120m","\u003cunset\u003e")"},
    {"", "persistentvolumeclaims",
     R"("spec":{"storageClassName":"s"},"status":{"phase":"Pending","capacity":{"storage":"2Gi"}})",
     R"("x","Pending","","","","s","\u003cunset\u003e","120m","\u003cunset\u003e")"},
    {"storage.k8s.io", "storageclasses",
     R"("annotations":{"storageclass.kubernetes.io/is-default-class":"true"}|"provisioner":"p","allowVolumeExpansion":true)",
     R"j("x (default)","p","Delete","Immediate",true,"120m")j"},
    {"storage.k8s.io", "volumeattributesclasses", R"("driverName":"d")", R"("x","d","120m")"},
    {"storage.k8s.io", "volumeattachments",
     R"("spec":{"attacher":"a","source":{"persistentVolumeName":"pv"},"nodeName":"n"},"status":{"attached":true})",
     R"("x","a","pv","n",true,"120m")"},
    {"storage.k8s.io", "csidrivers", R"("spec":{})",
     R"("x",true,false,false,"\u003cunset\u003e",false,"\u003cnone\u003e","120m")"},
    {"storage.k8s.io", "csidrivers",
     R"("spec":{"attachRequired":false,"tokenRequests":[{"audience":"a"},{"audience":"b"}],"volumeLifecycleModes":["Persistent","Ephemeral"]})",
     R"("x",false,false,false,"a,b",false,"Persistent,Ephemeral","120m")"},
    {"storage.k8s.io", "csinodes", R"("spec":{"drivers":[{},{}]})", R"("x",2,"120m")"},
    {"storage.k8s.io", "csistoragecapacities", "", R"("x","2026-01-01T00:00:00Z")"},
    {"", "events",
     R"("involvedObject":{"kind":"Pod","name":"p","fieldPath":"spec.containers{c}"},"reason":"Started",)"
     R"("message":" hi\n","source":{"component":"kubelet","host":"n1"},"firstTimestamp":)"
     R"("2026-01-01T01:00:00Z","lastTimestamp":"2026-01-01T01:59:50Z","count":3,"type":"Normal")",
     R"("10s","Normal","Started","pod/p","spec.containers{c}","kubelet, n1","hi","60m",3,"x")"},
    {"", "events",
     R"("involvedObject":{"kind":"Node"},"eventTime":"2026-01-01T01:58:00.500000Z","series":)"
     R"({"count":7,"lastObservedTime":"2026-01-01T01:59:00.000000Z"},"reportingComponent":"c")",
     R"("60s","","","node","","c","","119s",7,"x")"},
    {"", "services",
     R"("spec":{"type":"LoadBalancer","clusterIPs":["10.0.0.1"],"externalIPs":["1.1.1.1"],"ports":)"
     R"([{"port":80,"nodePort":30080,"protocol":"TCP"},{"port":53,"protocol":"UDP"}],"selector":)"
     R"({"b":"c","a":"b"}},"status":{"loadBalancer":{"ingress":[{"hostname":"z"},{"ip":"2.2.2.2"}]}})",
     R"("x","LoadBalancer","10.0.0.1","2.2.2.2,z,1.1.1.1","80:30080/TCP,53/UDP","120m","a=b,b=c")"},
    {"", "services", R"("spec":{"type":"LoadBalancer"})",
     R"("x","LoadBalancer","\u003cnone\u003e","\u003cpending\u003e","\u003cnone\u003e","120m","\u003cnone\u003e")"},
    {"", "services", R"("spec":{"type":"ExternalName","externalName":"e.com"})",
     R"("x","ExternalName","\u003cnone\u003e","e.com","\u003cnone\u003e","120m","\u003cnone\u003e")"},
    {"", "endpoints",
     R"("subsets":[{"addresses":[{"ip":"::1"},{"ip":"10.0.0.2"}],"ports":[{"port":80},{"port":81}]}])",
     R"("x","[::1]:80,10.0.0.2:80,[::1]:81 + 1 more...","120m")"},
    {"", "endpoints", "", R"("x","\u003cnone\u003e","120m")"},
    {"discovery.k8s.io", "endpointslices",
     R"("addressType":"IPv4","ports":[{"port":80},{"name":"n"},{}],"endpoints":[{"addresses":["a","b"]},{"addresses":["c","d"]}])",
     R"("x","IPv4","80,n,*","a,b,c + 1 more...","120m")"},
    {"networking.k8s.io", "ingresses",
     R"("spec":{"ingressClassName":"k","tls":[{}],"rules":[{"host":"a"},{},{"host":"b"},{"host":"c"},{"host":"d"}]},)"
     R"("status":{"loadBalancer":{"ingress":[{"ip":"2.2.2.2"},{"hostname":"1h"}]}})",
     R"("x","k","a,b,c + 2 more...","1h,2.2.2.2","80, 443","120m")"},
    {"networking.k8s.io", "ingressclasses",
     R"("spec":{"controller":"e.com/c","parameters":{"apiGroup":"g","kind":"K","name":"n"}})",
     R"("x","e.com/c","K.g/n","120m")"},
    {"networking.k8s.io", "networkpolicies",
     R"("spec":{"podSelector":{"matchLabels":{"z":"1"},"matchExpressions":[{"key":"a","operator":"In","values":["c","b"]},{"key":"m","operator":"DoesNotExist"},{"key":"z","operator":"Exists"}]}})",
     R"("x","a in (b,c),!m,z=1,z","120m")"},
    {"networking.k8s.io", "ipaddresses",
     R"("spec":{"parentRef":{"resource":"services","namespace":"n","name":"s"}})",
     R"("x","services/n/s","120m")"},
    {"networking.k8s.io", "servicecidrs", R"("spec":{"cidrs":["10.0.0.0/8","::/64"]})",
     R"("x","10.0.0.0/8,::/64","120m")"},
    {"", "podtemplates",
     R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"},{"name":"d","image":"j"}]}})",
     R"("x","c,d","i,j","a=b")"},
    {"", "replicationcontrollers",
     R"("spec":{"replicas":2,"selector":{"a":"b"},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},"status":{"replicas":1,"readyReplicas":0})",
     R"("x",2,1,0,"120m","c","i","a=b")"},
    {"apps", "replicasets",
     R"("spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}}},"status":{"replicas":1,"readyReplicas":1})",
     R"("x",2,1,1,"120m","","","a=b")"},
    {"apps", "deployments",
     R"("spec":{"replicas":3,"selector":{}},"status":{"readyReplicas":2,"updatedReplicas":1,"availableReplicas":2})",
     R"("x","2/3",1,2,"120m","","","")"},
    {"apps", "statefulsets",
     R"("spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},"status":{"readyReplicas":2})",
     R"("x","2/3","120m","c","i")"},
    {"apps", "daemonsets",
     R"("spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"spec":{"nodeSelector":{"os":"l"}}}},"status":{"desiredNumberScheduled":5,"currentNumberScheduled":4,"numberReady":3,"updatedNumberScheduled":2,"numberAvailable":1})",
     R"("x",5,4,3,2,1,"os=l","120m","","","a=b")"},
    {"apps", "controllerrevisions",
     R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","controller":true}]|"revision":7)",
     R"("x","statefulset.apps/web",7,"120m")"},
    {"batch", "jobs",
     R"("spec":{"completions":3},"status":{"succeeded":3,"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:02:05Z","conditions":[{"type":"Complete","status":"True"}]})",
     R"("x","Complete","3/3","2m5s","120m","","","\u003cnone\u003e")"},
    {"batch", "jobs", R"("spec":{"parallelism":2},"status":{"startTime":"2026-01-01T01:59:55Z"})",
     R"("x","Running","0/1 of 2","5s","120m","","","\u003cnone\u003e")"},
    {"batch", "cronjobs",
     R"("spec":{"schedule":"* * * * *","suspend":false,"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}},"status":{"active":[{}],"lastScheduleTime":"2026-01-01T01:59:30Z"})",
     R"("x","* * * * *","\u003cnone\u003e","False",1,"30s","120m","c","i","\u003cnone\u003e")"},
    {"rbac.authorization.k8s.io", "rolebindings",
     R"("subjects":[{"kind":"User","name":"u"},{"kind":"Group","name":"g"},{"kind":"Group","name":"h"},{"kind":"ServiceAccount","namespace":"n","name":"s"}],"roleRef":{"kind":"Role","name":"r"})",
     R"("x","Role/r","120m","u","g, h","n/s")"},
    {"rbac.authorization.k8s.io", "clusterrolebindings",
     R"("roleRef":{"kind":"ClusterRole","name":"r"})", R"("x","ClusterRole/r","120m","","","")"},
    {"rbac.authorization.k8s.io", "roles", "", R"("x","2026-01-01T00:00:00Z")"},
    {"rbac.authorization.k8s.io", "clusterroles", "", R"("x","2026-01-01T00:00:00Z")"},
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations", R"("webhooks":[{},{}])",
     R"("x",2,"120m")"},
    {"admissionregistration.k8s.io", "validatingwebhookconfigurations", "", R"("x",0,"120m")"},
    {"admissionregistration.k8s.io", "validatingadmissionpolicies",
     R"("spec":{"validations":[{}],"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}})",
     R"("x",1,"v1/ConfigMap","120m")"},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicies", R"("spec":{"mutations":[{}]})",
     R"("x",1,"\u003cunset\u003e","120m")"},
    {"admissionregistration.k8s.io", "validatingadmissionpolicybindings",
     R"("spec":{"policyName":"p","paramRef":{"name":"n"}})", R"("x","p","*/n","120m")"},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicybindings",
     R"("spec":{"policyName":"p","paramRef":{"selector":{"matchLabels":{"a":"b"}}}})",
     R"("x","p","\u0026LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}","120m")"},
    {"resource.k8s.io", "resourceclaims",
     R"("status":{"allocation":{},"reservedFor":[{"name":"p"}]})",
     R"("x","allocated,reserved","120m")"},
    {"resource.k8s.io", "resourceclaims", R"("deletionTimestamp":"2026-01-01T00:00:00Z"|)",
     R"("x","deleted","120m")"},
    {"resource.k8s.io", "resourceclaimtemplates", "", R"("x","120m")"},
    {"resource.k8s.io", "deviceclasses", "", R"("x","120m")"},
    {"resource.k8s.io", "resourceslices",
     R"("spec":{"driver":"d","pool":{"name":"p"},"nodeName":"n"})", R"("x","n","d","p","120m")"},
    {"apiregistration.k8s.io", "apiservices",
     R"("spec":{"service":{"namespace":"n","name":"s"}},"status":{"conditions":[{"type":"Available","status":"False","reason":"Gone"}]})",
     R"j("x","n/s","False (Gone)","120m")j"},
    {"apiregistration.k8s.io", "apiservices", R"("spec":{})", R"("x","Local","Unknown","120m")"},
    {"apiextensions.k8s.io", "customresourcedefinitions", "", R"("x","2026-01-01T00:00:00Z")"},
    {"certificates.k8s.io", "certificatesigningrequests",
     R"("spec":{"signerName":"s","username":"u","expirationSeconds":86400},"status":{"conditions":[{"type":"Approved"},{"type":"Failed"}],"certificate":"Yg=="})",
     R"("x","120m","s","u","24h","Approved,Failed,Issued")"},
    {"scheduling.k8s.io", "priorityclasses",
     R"("value":10,"globalDefault":true,"preemptionPolicy":"Never")",
     R"("x",10,true,"120m","Never")"},
    {"flowcontrol.apiserver.k8s.io", "flowschemas",
     R"("spec":{"priorityLevelConfiguration":{"name":"p"},"matchingPrecedence":9},"status":{"conditions":[{"type":"Dangling","status":"False"}]})",
     R"("x","p",9,"\u003cnone\u003e","120m","False")"},
    {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations",
     R"("spec":{"type":"Limited","limited":{"nominalConcurrencyShares":5,"limitResponse":{"queuing":{"queues":8,"handSize":4,"queueLengthLimit":10}}}})",
     R"("x","Limited",5,8,4,10,"120m")"},
    {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", R"("spec":{"type":"Exempt"})",
     R"("x","Exempt","\u003cnone\u003e","\u003cnone\u003e","\u003cnone\u003e","\u003cnone\u003e","120m")"},
    {"policy", "poddisruptionbudgets",
     R"("spec":{"minAvailable":1},"status":{"disruptionsAllowed":2})", R"("x","1","N/A",2,"120m")"},
    {"policy", "poddisruptionbudgets", R"("spec":{"maxUnavailable":"30%"})",
     R"("x","N/A","30%",0,"120m")"},
    {"autoscaling", "horizontalpodautoscalers",
     R"("spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"minReplicas":1,"maxReplicas":5,"metrics":)"
     R"([{"type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":80}}},)"
     R"({"type":"External","external":{"target":{"averageValue":"10"}}},{"type":"Pods","pods":{}}]},)"
     R"("status":{"currentReplicas":2,"currentMetrics":[{"resource":{"current":{"averageUtilization":40}}}]})",
     R"("x","Deployment/d","cpu: 40%/80%, \u003cunknown\u003e/10 (avg) + 1 more...","1",5,2,"120m")"},
};

TEST(Printers, ShowEveryKindAsUpstreamDoes) {
  for (const auto& sample : kSamples) {
    EXPECT_EQ(CellsOf(sample), sample.cells) << sample.resource << " " << sample.object;
  }
}

constexpr std::string_view kNoPlace =
    R"(,"\u003cnone\u003e","\u003cnone\u003e","\u003cnone\u003e","\u003cnone\u003e")";

// Ready, Status and Restarts of pods in all kinds of trouble.
TEST(Printers, TellHowPodsAreDoing) {
  constexpr std::string_view kOne = R"("spec":{"containers":[{"name":"c"}]})";
  constexpr std::string_view kInit =
      R"("spec":{"initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"c"}]})";
  struct Case {
    std::string_view metadata;
    std::string_view spec;
    std::string_view status;
    std::string_view cells;
  };
  constexpr Case kCases[] = {
      {"", kOne, R"("phase":"Pending")", R"("0/1","Pending","0")"},
      {"", kOne, R"("phase":"Failed","reason":"Evicted")", R"("0/1","Evicted","0")"},
      {"", kOne,
       R"("phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}])",
       R"("0/1","SchedulingGated","0")"},
      {"", kOne,
       R"("phase":"Running","containerStatuses":[{"name":"c","ready":true,"restartCount":2,"state":{"running":{}},"lastState":{"terminated":{"finishedAt":"2026-01-01T01:59:00Z"}}}])",
       R"j("1/1","Running","2 (60s ago)")j"},
      {"", kOne,
       R"("phase":"Running","containerStatuses":[{"name":"c","restartCount":4,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}])",
       R"("0/1","CrashLoopBackOff","4")"},
      {"", kOne,
       R"("phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":137,"signal":9}}}])",
       R"("0/1","Signal:9","0")"},
      {"", kOne,
       R"("phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":3}}}])",
       R"("0/1","ExitCode:3","0")"},
      {"", kOne,
       R"("phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"name":"d","ready":true,"state":{"running":{}}}])",
       R"("1/1","Running","0")"},
      {"", kOne,
       R"("phase":"Running","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"name":"d","ready":true,"state":{"running":{}}}])",
       R"("1/1","NotReady","0")"},
      {"", kOne,
       R"("phase":"Running","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"name":"d","state":{"terminated":{"exitCode":1,"reason":"Error"}}}])",
       R"("0/1","Error","0")"},
      {"", kInit, R"("phase":"Pending","initContainerStatuses":[{"name":"i","state":{}}])",
       R"("0/2","Init:0/2","0")"},
      {"", kInit,
       R"("phase":"Pending","initContainerStatuses":[{"name":"i","restartCount":3,"state":{"waiting":{"reason":"ImagePullBackOff"}}}])",
       R"("0/2","Init:ImagePullBackOff","3")"},
      {"", kInit,
       R"("phase":"Pending","initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":1}}}])",
       R"("0/2","Init:ExitCode:1","0")"},
      {"", kInit,
       R"("phase":"Running","initContainerStatuses":[{"name":"i","restartCount":5,"state":{"terminated":{"exitCode":0}}},{"name":"s","restartCount":1,"started":true,"ready":true,"state":{"running":{}}}],"containerStatuses":[{"name":"c","ready":true,"state":{"running":{}}}])",
       R"("2/2","Running","1")"},
      {R"("deletionTimestamp":"2026-01-01T00:00:00Z")", kOne, R"("phase":"Running")",
       R"("0/1","Terminating","0")"},
      {R"("deletionTimestamp":"2026-01-01T00:00:00Z")", kOne, R"("phase":"Succeeded")",
       R"("0/1","Succeeded","0")"},
      {R"("deletionTimestamp":"2026-01-01T00:00:00Z")", kOne,
       R"("phase":"Running","reason":"NodeLost")", R"("0/1","Unknown","0")"},
  };
  for (const auto& [metadata, spec, status, cells] : kCases) {
    const auto object = fmt::format("{}|{},\"status\":{{{}}}",
                                    metadata.empty() ? "\"a\":0" : metadata, spec, status);
    auto shown = CellsOf({"", "pods", object, ""});
    shown = shown.substr(0, shown.find("],\"conditions\""));
    EXPECT_EQ(shown, fmt::format(R"("x",{},"120m"{})", cells, kNoPlace)) << status;
  }
}

TEST(Printers, SayWherePodsAre) {
  EXPECT_EQ(
      CellsOf(
          {"", "pods",
           R"("spec":{"nodeName":"n","readinessGates":[{"conditionType":"a"},{"conditionType":"b"}]},)"
           R"("status":{"podIPs":[{"ip":"10.0.0.1"},{"ip":"::1"}],"nominatedNodeName":"m",)"
           R"("conditions":[{"type":"b","status":"True"},{"type":"a","status":"False"}]})",
           ""}),
      R"("x","0/0","","0","120m","10.0.0.1","n","m","1/2")");
}

TEST(Printers, MarkPodsThatAreDone) {
  const rest::TableLayout layout(InfoOf("", "pods"), FindPrinter("", "pods"));
  rest::Body body;
  const auto pod = Slice::Static(R"({"metadata":{},"status":{"phase":"Succeeded"}})");
  layout.AppendRow(pod, pod, {.now = kNow}, body);
  EXPECT_TRUE(
      Flatten(body.Take())
          .contains(
              R"("conditions":[{"type":"Completed","status":"True","reason":"Succeeded","message":"The pod has completed successfully."}])"));
}

std::string CellsOf(const rest::TableLayout& layout, const value::Value& object) {
  std::string cells;
  rest::Row row(cells, kNow);
  layout.PrintCells(object, row);
  return cells;
}

bool PathExists(const schema::Type* type, std::string_view path) {
  while (!path.empty()) {
    const auto dot = path.find('.');
    while (type->kind == schema::TypeKind::kList) type = type->element;
    const schema::Type* next = nullptr;
    for (const auto& field : type->fields()) {
      if (field.text() == path.substr(0, dot)) next = field.type;
    }
    if (next == nullptr) return false;
    type = next;
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  return true;
}

template <typename Visit>
void ForEachPrinted(Visit visit) {
  for (const auto& version : api::kCatalog.group_versions()) {
    for (const auto& info : version.resources) {
      if (const auto* printer = FindPrinter(info.group, info.plural);
          printer != nullptr && info.hub.kind.empty()) {
        visit(info, *printer);
      }
    }
  }
}

TEST(Printers, ReadFieldsThatExist) {
  int printers = 0;
  ForEachPrinted([&](const schema::ResourceInfo& info, const rest::TablePrinter& printer) {
    ++printers;
    for (const auto& cell : printer.cells) {
      std::string_view words = cell.reads;
      while (!words.empty()) {
        const auto end = words.find(' ');
        EXPECT_TRUE(PathExists(info.type, words.substr(0, end)))
            << info.plural << " " << words.substr(0, end);
        words = end == std::string_view::npos ? "" : words.substr(end + 1);
      }
    }
  });
  EXPECT_GT(printers, 50);
}

TEST(Printers, FillEveryColumn) {
  ForEachPrinted([&](const schema::ResourceInfo& info, const rest::TablePrinter& printer) {
    const rest::TableLayout layout(info, &printer);
    auto row = value::ParseJson("[" + Cells(layout, R"({"metadata":{}})") + "]");
    ASSERT_TRUE(row.has_value()) << info.plural;
    const size_t more = info.plural == "ipaddresses" ? 1 : 0;
    EXPECT_EQ(row->root().size(), info.columns.size() + more) << info.plural;
  });
}

// A cell that reads what it did not name would show something else in a row than here.
TEST(Printers, NameEverythingTheyRead) {
  ForEachPrinted([&](const schema::ResourceInfo& info, const rest::TablePrinter& printer) {
    const rest::TableLayout layout(info, &printer);
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      auto arena = value::Arena::Make();
      const auto object = schema::testing::RandomObject(*arena, seed).Make(*info.type);
      ASSERT_EQ(Cells(layout, value::ToJson(object)).substr(0, CellsOf(layout, object).size()),
                CellsOf(layout, object))
          << info.plural << " seed " << seed << " " << value::ToJson(object);
    }
  });
}

}  // namespace
}  // namespace keelson::kube::print
